package import Hummingbird
import ProviderAPI
package import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// The dashboard: web pages for people, on the listener of the REST API. A page makes API requests within the process,
/// as the signed-in caller. Scopes, apps, limits, audit entries and errors are therefore those of the API, and each
/// page can show its requests as `curl` commands. Instead of JSON, a page uses the values from which responses are
/// encoded (`ResponseValue`).
package struct Dashboard: ProviderPages {
    static let root = "/dashboard"

    let areas: [any PageArea]
    let renderer: PageRenderer
    let interface: PageComponents

    package func addRoutes(to router: Router<APIContext>) {
        router.get("/") { _, _ in Response.redirect(to: Self.root) }
        router.get("\(Self.root)/assets/:name") { [assets = self.renderer.assets] request, context in
            assets.response(to: request, name: context.path("name"))
        }
        for route in self.areas.flatMap(\.routes) + [Self.nothing] {
            router.on(RouterPath("\(Self.root)\(route.path)"), method: route.method) { request, context in
                await self.respond(to: request, context, route)
            }
        }
    }

    /// The route for paths to which no page belongs, which responds with an error page.
    private static let nothing = PageRoute.get("/**") { request in
        throw PageError.noSuchPage.error(request.texts["failure.nothing"], kind: .notFound)
    }

    /// Returns the page request of the signed-in caller, or `nil` for a visitor without a session.
    private func page(_ visitor: AnonymousPageRequest, _ route: PageRoute) async throws -> PageRequest? {
        guard let session = try await visitor.session() else { return nil }
        try self.interface.connections.assign(visitor.context.channel, to: session.caller.account)
        return PageRequest(visitor, session: session, path: route.path)
    }

    /// Responds to a request for a page. An error results in a page that shows it.
    private func respond(to request: Request, _ context: APIContext, _ route: PageRoute) async -> Response {
        let visitor = AnonymousPageRequest(request, context, renderer: self.renderer, interface: self.interface)
        do {
            try visitor.checkOrigin()
            switch route.handler {
            case .visitor(let handler): return try await handler(visitor)
            case .person(let handler):
                guard let page = try await self.page(visitor, route) else { return visitor.signInFirst }
                return await page.respond(with: handler)
            case .upload(let handler):
                guard let page = try await self.page(visitor, route) else { return visitor.signInFirst }
                return await page.respond(toUpload: handler)
            }
        } catch {
            return visitor.errorPage(for: error)
        }
    }
}
