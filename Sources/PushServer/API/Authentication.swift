import HTTPTypes
import Hummingbird
import PushProtocol
import PushProvider

/// Lets in who brings an API key: `Authorization: Bearer mk_…`.
struct Authentication: RouterMiddleware {
    let keys: APIKeys

    func handle(
        _ request: Request,
        context: APIContext,
        next: @concurrent (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let key = try await self.keys.check(String(parts[1]))
        else {
            throw APIRefusal(
                status: 401,
                code: "unauthorized",
                message: "send a valid API key as 'Authorization: Bearer mk_…'",
                field: "authorization"
            )
        }
        var context = context
        context.key = key
        return try await next(request, context)
    }
}
