package import Hummingbird
package import Logging
import PushSupport

/// Turns every error into a response of one shape. The cause of an internal failure goes to the log, not to the caller.
///
/// Of these lines some are written in a minute: a request may cause as many as its client likes.
package struct ErrorMiddleware: RouterMiddleware {
    private let logger: Logger

    package init(logger: Logger) {
        self.logger = logger.rateLimited()
    }

    package func handle(
        _ request: Request,
        context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = self.response(to: error, request)
        }
        // A body, such as that of an error, would be taken for the next response.
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Returns the response that reports an error.
    package func response(to error: any Error, _ request: Request) -> Response {
        switch error {
        case let error as RequestError: return .error(error)
        case let error as any HTTPResponseError: return .error(Self.error(error.status), status: error.status)
        default:
            if let error = RequestError(ofHTTP: error) { return .error(error) }
            self.logger.error("request failed", metadata: ["path": "\(RedactedPath.of(request))", "error": "\(error)"])
            return .error(.internalFailure)
        }
    }

    /// Returns the error for a status that the HTTP server itself responds with.
    private static func error(_ status: HTTPResponse.Status) -> RequestError {
        switch status {
        case .notFound: RequestError(.notFound, code: "not_found", message: "there is nothing at this path")
        default: RequestError(.invalid, code: "refused", message: status.reasonPhrase)
        }
    }
}
