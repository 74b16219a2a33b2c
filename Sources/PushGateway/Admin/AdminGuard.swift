import Hummingbird
import PushHTTP
import PushSupport

/// Rejects requests from web pages.
///
/// The admin API has no login, so a page in a browser on this machine must not reach it. Requests with an `Origin`, and
/// requests for a host name that this machine does not have (DNS rebinding), are rejected. So are requests with a
/// provider's API key, which are meant for another server: both servers have lists of apps and devices.
struct AdminGuard: RouterMiddleware {
    private static let ownNames = ["localhost", "127.0.0.1", "[::1]"]

    /// Rejects a request that a web page may have sent, or passes it on to the operation.
    /// - Throws: ``RequestError`` for a rejected request.
    func handle(
        _ request: Request,
        context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw RequestError(.forbidden, code: "browser_refused", message: "web pages may not use the admin API")
        }
        if let authorization = request.headers[.authorization], authorization.hasPrefix("Bearer mk_") {
            let message = "this is the admin API of a gateway, which has no API keys: use the address of the provider"
            throw RequestError(.invalid, code: "not_a_provider", message: message, path: "authorization")
        }
        let host = request.head.authority ?? ""
        let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        guard Self.ownNames.contains(name.lowercased()) else {
            throw RequestError(
                .forbidden,
                code: "host_refused",
                message: "the host of the admin API is localhost, 127.0.0.1 or [::1]",
                path: "host"
            )
        }
        return try await next(request, context)
    }
}
