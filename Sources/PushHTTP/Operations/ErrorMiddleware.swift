package import Hummingbird
package import Logging
import PushSupport

/// Converts every error to a response with the same JSON form. The cause of an internal failure is only logged.
///
/// The number of log lines per minute is limited, because any client can cause them.
package struct ErrorMiddleware: RouterMiddleware {
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger.rateLimited() }

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
        // A client would take a body after a HEAD request for the beginning of the next response.
        return request.method == .head ? response.createHeadResponse() : response
    }

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

    /// Returns the error for the status with which the HTTP server itself rejects a request.
    private static func error(_ status: HTTPResponse.Status) -> RequestError {
        switch status {
        case .notFound: RequestError(.notFound, code: "not_found", message: "there is nothing at this path")
        default: RequestError(.invalid, code: "refused", message: status.reasonPhrase)
        }
    }
}

extension Router where Context == APIContext {
    private static var methods: [HTTPRequest.Method] {
        [.get, .head, .post, .put, .patch, .delete, .options, .trace] + [HTTPRequest.Method("QUERY")].compactMap(\.self)
    }

    /// Adds responses to unsupported methods for every path: status 405 with `allow` (RFC 9110 section 15.5.6).
    ///
    /// This method must be called after the last route was added.
    package func addMethodNotAllowedResponses() {
        for routes in Dictionary(grouping: self.routes, by: { $0.path.description }).values {
            guard let path = routes.first?.path else { continue }
            let known = Set(routes.map(\.method))
            let allow = known.map(\.rawValue).sorted().joined(separator: ", ")
            let message = "this path knows \(allow) only"
            let error = RequestError(.methodNotAllowed, code: "method_not_allowed", message: message)
            for method in Self.methods where !known.contains(method) {
                self.on(path, method: method) { _, _ in Response.error(error, headers: [.allow: allow]) }
            }
        }
    }
}
