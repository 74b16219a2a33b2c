import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of the signed-in caller, with the caller's password, language and sessions.
struct AccountPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/account", { try await self.page($0, error: nil) }),
            self.form("/account/language", self.setLanguage),
            self.form("/account/password", self.setPassword),
            self.form("/account/sessions/{session}/end", self.end),
            .post("/account/sign-out-everywhere", self.endAll),
        ]
    }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let me = try await request.get("/v1/me", as: AccountResponse.self)
        let sessions = try await request.list("/v1/me/sessions", of: SessionResponse.self).entries
        let texts = request.texts
        let languages = request.visitor.renderer.languages.all
        let model: PageModel = [
            "name": me.name, "isPerson": me.isPerson,
            "role": me.role.map { texts.text("people.roleNames.\($0.rawValue)") ?? $0.rawValue } ?? false,
            "scopeText": me.scopes.joined(separator: ", "), "appText": AppLimit.text(me.apps, texts),
            "sessions": sessions.map { SessionModel.row($0, request) }, "endsOne": true,
            "path": "\(Dashboard.root)/account",
            "languageFields": FormModel.fields(
                "language",
                [
                    FormField(
                        "language",
                        texts["account.language"],
                        .choice([("", texts["account.ofBrowser"])] + languages.map { ($0, texts["account.in.\($0)"]) }),
                        value: me.language ?? ""
                    )
                ],
                error: error
            ),
            "passwordFields": FormModel.fields(
                "password",
                [
                    Self.password("current", texts["account.current"], completion: "current-password"),
                    Self.password("password", texts["link.password"], hint: texts["link.rule"]),
                    Self.password("again", texts["link.again"], repeating: "password"),
                ],
                error: error
            ),
        ]
        return request.page("account", title: "account.title", model, error: error)
    }

    /// Returns a password field.
    /// - Parameter member: The API member with the bounds of the field, if the field repeats another password, or `nil`
    ///   for the member with the name of the field.
    private static func password(
        _ name: String,
        _ label: String,
        repeating member: String? = nil,
        hint: String? = nil,
        completion: String = "new-password"
    ) -> FormField {
        FormField(
            name,
            of: AccountRequest.passwordChange,
            at: member,
            label,
            .line(type: "password"),
            hint: hint,
            completion: completion
        )
    }

    private func setLanguage(_ request: PageRequest) async throws -> Response {
        let language = request.form["language"].flatMap { $0.isEmpty ? nil : JSONValue.string($0) } ?? .null
        _ = try await request.call(.patch("/v1/me", .object(["language": language])))
        return request.redirect(to: "/account", done: "saved")
    }

    /// Changes the password, which ends all sessions of the person, including the current one.
    private func setPassword(_ request: PageRequest) async throws -> Response {
        let (new, again) = (request.form["password"] ?? "", request.form["again"] ?? "")
        guard new == again else {
            throw PageError.passwordsDiffer.error(request.texts["link.differ"], field: "again")
        }
        let body = JSONValue.object(["current": .string(request.form["current"] ?? ""), "password": .string(new)])
        _ = try await request.call(.put("/v1/me/password", body), isNoted: false)
        return Self.signedOut(request)
    }

    private func end(_ request: PageRequest) async throws -> Response {
        let session = URLText.encoded(request.parameter("session"))
        _ = try await request.call(.delete("/v1/me/sessions/\(session)"))
        return request.redirect(to: "/account", done: "sessionEnded")
    }

    private func endAll(_ request: PageRequest) async throws -> Response {
        _ = try await request.call(.delete("/v1/me/sessions"))
        return Self.signedOut(request)
    }

    private static func signedOut(_ request: PageRequest) -> Response {
        var response = Response.redirect(to: "\(Dashboard.root)/sign-in")
        response.headers[values: .setCookie] = [request.visitor.renderer.cookie.clearing]
        return response
    }
}
