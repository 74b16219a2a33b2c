import HTTPTypes
import Hummingbird
import Logging
import PushProtocol

/// Turns every failure into the one shape of an error, and keeps web pages out.
///
/// The door has no login, so a page in a browser on this machine must not reach it: requests with an `Origin`, and
/// requests for another host name than this machine's own (DNS rebinding), are refused.
struct AdminGuard: RouterMiddleware {
    private static let ownNames = ["localhost", "127.0.0.1", "[::1]"]

    let logger: Logger

    func handle(
        _ request: Request,
        context: AdminContext,
        next: @concurrent (Request, AdminContext) async throws -> Response
    ) async throws -> Response {
        do {
            try Self.refuseBrowsers(request)
            return try await next(request, context)
        } catch let refusal as APIRefusal {
            return AdminAnswer.refusal(refusal)
        } catch let error as any HTTPResponseError {
            return AdminAnswer.refusal(Self.refusal(error.status))
        } catch {
            self.logger.error("admin request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            return AdminAnswer.refusal(
                APIRefusal(status: 500, code: "internal", message: "the gateway could not do this; its log says why")
            )
        }
    }

    private static func refuseBrowsers(_ request: Request) throws {
        guard request.headers[.origin] == nil else {
            throw APIRefusal(status: 403, code: "browser_refused", message: "web pages may not use the admin door")
        }
        let host = request.head.authority ?? ""
        let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        guard Self.ownNames.contains(name.lowercased()) else {
            throw APIRefusal(
                status: 403,
                code: "host_refused",
                message: "the admin door answers to localhost, 127.0.0.1 and [::1] only",
                field: "host"
            )
        }
    }

    private static func refusal(_ status: HTTPResponse.Status) -> APIRefusal {
        switch status {
        case .notFound: APIRefusal(status: 404, code: "not_found", message: "there is nothing at this path")
        case .methodNotAllowed:
            APIRefusal(status: 405, code: "method_not_allowed", message: "this path does not take this method")
        case .contentTooLarge:
            APIRefusal(status: 413, code: "body_too_large", message: "a body has at most 65536 bytes here")
        default: APIRefusal(status: status.code, code: "refused", message: status.reasonPhrase)
        }
    }
}
