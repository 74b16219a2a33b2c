import HTTPTypes
import Hummingbird
import PushSupport

/// Keeps web pages out of the admin door.
///
/// The door has no login, so a page in a browser on this machine must not reach it: requests with an `Origin`, and
/// requests for another host name than this machine's own (DNS rebinding), are refused.
struct AdminGuard: RouterMiddleware {
    private static let ownNames = ["localhost", "127.0.0.1", "[::1]"]

    func handle(
        _ request: Request,
        context: AdminContext,
        next: @concurrent (Request, AdminContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw RequestError(.forbidden, code: "browser_refused", message: "web pages may not use the admin door")
        }
        let host = request.head.authority ?? ""
        let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        guard Self.ownNames.contains(name.lowercased()) else {
            throw RequestError(
                .forbidden,
                code: "host_refused",
                message: "the admin door answers to localhost, 127.0.0.1 and [::1] only",
                path: "host"
            )
        }
        return try await next(request, context)
    }
}
