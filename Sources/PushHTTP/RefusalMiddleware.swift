import HTTPTypes
package import Hummingbird
package import Logging
import PushProtocol

/// Turns every failure into the one shape of an error. What went wrong inside goes to the log, not to the caller.
package struct RefusalMiddleware<Context: JSONContext>: RouterMiddleware {
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
        case let refusal as APIRefusal: return JSONAnswer.refusal(refusal)
        case let error as any HTTPResponseError: return JSONAnswer.refusal(Self.refusal(error.status, context))
        default:
            self.logger.error("request failed", metadata: ["path": "\(LoggedPath.of(request))", "error": "\(error)"])
            return JSONAnswer.refusal(
                APIRefusal(status: 500, code: "internal", message: "the server could not do this; its log says why")
            )
        }
    }

    private static func refusal(_ status: HTTPResponse.Status, _ context: Context) -> APIRefusal {
        switch status {
        case .notFound:
            APIRefusal(status: 404, code: "not_found", message: "there is nothing at this path")
        case .contentTooLarge: .bodyTooLarge(maximum: context.maxUploadSize)
        default: APIRefusal(status: status.code, code: "refused", message: status.reasonPhrase)
        }
    }
}
