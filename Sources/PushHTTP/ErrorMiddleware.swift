import HTTPTypes
package import Hummingbird
package import Logging
import PushSupport

/// Turns every failure into the one shape of an error. What went wrong inside goes to the log, not to the caller.
package struct ErrorMiddleware<Context: JSONContext>: RouterMiddleware {
    private let logger: Logger

    package init(logger: Logger) {
        self.logger = logger
    }

    package func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            return self.answer(to: error, request, context)
        }
    }

    /// The answer that tells of a failure.
    package func answer(to error: any Error, _ request: Request, _ context: Context) -> Response {
        switch error {
        case let refusal as RequestError: return JSONResponse.refusal(refusal)
        case let error as any HTTPResponseError:
            return JSONResponse.refusal(Self.refusal(error.status, context), status: error.status)
        default:
            self.logger.error("request failed", metadata: ["path": "\(RedactedPath.of(request))", "error": "\(error)"])
            return JSONResponse.refusal(
                RequestError(
                    .internalError,
                    code: "internal",
                    message: "the server could not do this; its log says why"
                )
            )
        }
    }

    private static func refusal(_ status: HTTPResponse.Status, _ context: Context) -> RequestError {
        switch status {
        case .notFound:
            RequestError(.notFound, code: "not_found", message: "there is nothing at this path")
        case .contentTooLarge: .bodyTooLarge(maximum: context.maxUploadSize)
        default: RequestError(.invalid, code: "refused", message: status.reasonPhrase)
        }
    }
}
