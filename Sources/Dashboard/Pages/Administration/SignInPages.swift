import Foundation
import HTTPTypes
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// The pages on which people sign in and out. They sign in with a name and a password, an API key or a one-time link.
struct SignInPages: PageArea {
    var routes: [PageRoute] {
        [
            .open(.get, "/sign-in", self.show), .open(.post, "/sign-in", self.signIn),
            .open(.get, "/link/{token}", self.showLink), .open(.post, "/link/{token}", self.redeem),
            .post("/sign-out", self.signOut),
        ]
    }

    private func show(_ visitor: AnonymousPageRequest) async throws -> Response {
        if try await visitor.session() != nil { return .redirect(to: Self.next(visitor)) }
        return Self.page(visitor)
    }

    private func signIn(_ visitor: AnonymousPageRequest) async throws -> Response {
        let form = try await visitor.smallForm()
        do {
            let old = try await visitor.session()
            let grant =
                if let key = form["key"], !key.isEmpty {
                    try await visitor.interface.signIn.signIn(
                        key: key,
                        wrong: visitor.interface.budgets[.wrongSecrets],
                        of: visitor.client,
                        address: visitor.address,
                        agent: visitor.agent,
                        replacing: old
                    )
                } else {
                    try await visitor.interface.signIn.signIn(
                        name: Self.name(form) ?? "",
                        password: form["password"] ?? "",
                        address: visitor.address,
                        agent: visitor.agent,
                        replacing: old
                    )
                }
            return Self.begin(grant, visitor)
        } catch {
            let (error, headers) = visitor.failure(error)
            return Self.refusal(Self.page(visitor, name: form["name"], error: error), headers)
        }
    }

    private func showLink(_ visitor: AnonymousPageRequest) async throws -> Response {
        try await Self.checkLink(visitor)
        return Self.linkPage(visitor)
    }

    /// Checks the one-time link that the path names.
    /// - Throws: ``RequestError`` if the link cannot be redeemed, or `BudgetRefusal` for a client that has tried too
    ///   many invalid links.
    private static func checkLink(_ visitor: AnonymousPageRequest) async throws {
        guard try await visitor.interface.signIn.link(visitor.context.path("token")) != nil else {
            // Only invalid links count. A valid link always works, because it must bypass all locks.
            try visitor.interface.budgets[.wrongSecrets].spend(for: visitor.client)
            throw SignInService.noLink
        }
    }

    private func redeem(_ visitor: AnonymousPageRequest) async throws -> Response {
        try await Self.checkLink(visitor)
        let form = try await visitor.smallForm()
        do {
            guard form["password"] == form["again"] else {
                throw PageError.passwordsDiffer.error(visitor.texts()["link.differ"], field: "again")
            }
            let grant = try await visitor.interface.signIn.redeem(
                link: visitor.context.path("token"),
                name: Self.name(form),
                password: form["password"] ?? "",
                address: visitor.address,
                agent: visitor.agent,
                replacing: try await visitor.session()
            )
            return Self.begin(grant, visitor)
        } catch {
            let (error, headers) = visitor.failure(error)
            return Self.refusal(Self.linkPage(visitor, name: form["name"], error: error), headers)
        }
    }

    /// Returns the entered name without the spaces that phone keyboards add, or `nil` for an empty one.
    private static func name(_ form: FormData) -> String? {
        let name = (form["name"] ?? "").trimmingCharacters(in: .whitespaces)
        return name.isEmpty ? nil : name
    }

    private func signOut(_ request: PageRequest) async throws -> Response {
        try await request.interface.signIn.signOut(request.session)
        var response = Response.redirect(to: "\(Dashboard.root)/sign-in")
        response.headers[values: .setCookie] = [request.visitor.renderer.cookie.clearing]
        return response
    }

    // MARK: Responses

    /// Returns `page`, which shows an error, with the header field `retry-after` of `headers`.
    private static func refusal(_ page: Response, _ headers: HTTPFields) -> Response {
        var page = page
        page.headers[.retryAfter] = headers[.retryAfter]
        return page
    }

    /// Returns a redirect to the page that the browser requested, with the cookie of the new session.
    private static func begin(_ grant: SessionGrant, _ visitor: AnonymousPageRequest) -> Response {
        var response = Response.redirect(to: self.next(visitor))
        response.headers[values: .setCookie] = [visitor.renderer.cookie.setting(grant.token)]
        return response
    }

    /// Returns the path of the page to show after signing in. Only paths of the dashboard are allowed, so that a link
    /// cannot lead to another site.
    private static func next(_ visitor: AnonymousPageRequest) -> String {
        let item = visitor.http.uri.queryParameters.first { $0.key == "next" }.map { String($0.value) } ?? ""
        let isOurs =
            item == Dashboard.root || item.hasPrefix("\(Dashboard.root)/") || item.hasPrefix("\(Dashboard.root)?")
        let isPlain = item.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }
        return isOurs && isPlain ? item : Dashboard.root
    }

    private static var bounds: PageModel {
        [
            "nameMaximum": PersonRequest.addition["name"].maximumLength.map { "\($0)" } ?? false,
            "passwordMinimum": "\(PasswordPolicy.characters.lowerBound)",
            "passwordMaximum": AccountRequest.passwordChange["password"].maximumLength.map { "\($0)" } ?? false,
        ]
    }

    private static func page(_ visitor: AnonymousPageRequest, name: String? = nil, error: RequestError? = nil)
        -> Response
    {
        var model = Self.bounds
        model["action"] = visitor.http.head.path ?? "\(Dashboard.root)/sign-in"
        model["name"] = name ?? ""
        if let error { model["error"] = PageError.model(error, visitor.texts()) }
        return visitor.page("sign-in", title: "signIn.title", model, status: error?.kind.status ?? .ok)
    }

    private static func linkPage(_ visitor: AnonymousPageRequest, name: String? = nil, error: RequestError? = nil)
        -> Response
    {
        var model = Self.bounds
        (model["name"], model["action"]) = (name ?? "", visitor.http.uri.path)
        model["problems"] = FieldErrors.model(error)
        if let error { model["error"] = PageError.model(error, visitor.texts()) }
        return visitor.page("link", title: "link.title", model, status: error?.kind.status ?? .ok)
    }
}
