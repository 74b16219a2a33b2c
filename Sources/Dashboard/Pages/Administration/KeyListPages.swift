import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The list of API keys, and the form that adds one. A new key is shown only once.
struct KeyListPages: FormArea {
    static let lifetimes = ["", "1", "30", "90", "365"]

    var routes: [PageRoute] {
        [
            .get("/keys", { try await self.page($0, error: nil) }),
            self.form("/keys", scope: .admin, showsForbidden: false, self.add),
            self.form("/keys/{key}/remove", showsForbidden: false, self.remove),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.server, "keys", scope: .admin) }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let keys = try await request.list("/v1/keys", of: KeyResponse.self).entries
        let form = request.form
        let model: PageModel = [
            "keys": keys.map { Self.row($0, request) }, "isOpen": error != nil,
            "fields": FormModel.fields(
                "key",
                Self.fields(
                    request,
                    apps: [try await Self.apps(request)],
                    values: .init(
                        name: form["name"] ?? "",
                        scopes: form.values("scopes"),
                        days: form["days"] ?? "90",
                        rate: form["rate"] ?? ""
                    )
                ),
                error: error,
                names: ["expiresIn": "days"]
            ),
        ]
        return request.page("keys", title: "keys.title", model, error: error)
    }

    private static func apps(_ request: PageRequest) async throws -> FormField {
        let apps = try await request.list("/v1/apps", of: AppResponse.self).entries.map(\.app.bundleID.name)
        return FormField(
            "apps",
            request.texts["keys.apps"],
            .checks(apps.map { ($0, $0) }),
            values: request.form.values("apps"),
            hint: request.texts["keys.appsHint"]
        )
    }

    static func row(_ key: KeyResponse, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(key)
        model["scopeText"] = key.scopes.map(\.rawValue).joined(separator: ", ")
        model["appText"] = AppLimit.text(key.apps, request.texts)
        model["path"] = "\(Dashboard.root)/keys/\(key.record.id)"
        for name in ["expiresAt", "lastUsedAt", "rate"] where model[name] == nil { model[name] = false }
        return model
    }

    /// The values that the fields for a key show. `days` is the lifetime in days, or an empty string for no expiry.
    struct Values {
        let name: String
        let scopes: [String]
        let days, rate: String
    }

    /// Returns the fields for a key.
    /// - Parameters:
    ///   - apps: The fields that choose the apps of the key.
    ///   - lifetimes: The offered lifetimes, in days, among which an empty string stands for a key that never expires.
    static func fields(
        _ request: PageRequest,
        apps: [FormField],
        values: Values,
        lifetimes: [String] = Self.lifetimes
    ) -> [FormField] {
        let texts = request.texts
        let make = MemberFields(texts: texts, area: "keys", list: APIKeyRequest.addition)
        return [
            make.field("name", value: values.name),
            make.field("scopes", .checks(make.options("scopes", "scope")), values: values.scopes),
        ] + apps + [
            FormField(
                "days",
                texts["keys.lifetime"],
                .choice(lifetimes.map { ($0, texts["keys.lifetimes.d\($0)"]) }),
                value: values.days
            ),
            make.field("rate", .line(type: "number"), value: values.rate),
        ]
    }

    /// Returns the chosen lifetime of a key, in seconds, or `nil` for a key that never expires.
    static func lifetime(_ form: FormData) throws -> JSONValue? {
        try form.number("days", in: 1...3660).map { JSONValue.integer($0 * 86_400) }
    }

    /// Issues a key, and shows it. No later page shows it.
    private func add(_ request: PageRequest) async throws -> Response {
        let form = request.form
        let body = JSONValue.members([
            "name": .string(form["name"] ?? ""),
            "scopes": .array(form.values("scopes").map(JSONValue.string)),
            "apps": JSONValue.texts(form.values("apps")), "expiresIn": try Self.lifetime(form),
            "rate": try form.number("rate", of: APIKeyRequest.addition["rate"]).map(JSONValue.integer),
        ])
        let key = try await request.call(.post("/v1/keys", body), as: KeyResponse.self)
        return SecretPage.page(
            request,
            title: "keys.added",
            explanation: "keys.once",
            secret: key.text ?? "",
            next: "\(Dashboard.root)/keys"
        )
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        _ = try await request.call(.delete("/v1/keys/\(URLText.encoded(request.parameter("key")))"))
        return request.redirect(to: "/keys", done: "removed")
    }
}
