import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The API keys: who may use the API, and a new key, whose text is shown once.
struct KeysPages: PageArea {
    private static let scopes = ["read", "send", "register", "operate", "admin", "metrics", "registerSelf"]
    private static let lifetimes = ["", "1", "30", "90", "365"]

    var routes: [PageRoute] {
        [.get("/keys", self.show), .post("/keys", self.add), .post("/keys/{key}/remove", self.remove)]
    }

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request, error: nil) }

    private func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let keys = try await request.get("/v1/keys")["keys"].elements
        let apps = try await request.get("/v1/apps")["apps"].elements.compactMap { $0["bundleId"].stringValue }
        let model: PageModel = [
            "keys": keys.map { Self.row($0, request) }, "isOpen": error != nil,
            "fields": FormModel.fields(
                "key",
                Self.fields(request, apps: apps),
                error: error,
                names: ["expiresIn": "days"]
            ),
        ]
        return request.page("keys", title: "keys.title", model, error: error)
    }

    private static func row(_ key: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(key)
        model["scopeText"] = key["scopes"].elements.compactMap(\.stringValue).joined(separator: ", ")
        model["appText"] = AppLimit.text(key["apps"], request.texts)
        model["removePath"] = "\(Dashboard.root)/keys/\(key["id"].stringValue ?? "")/remove"
        for name in ["expiresAt", "lastUsedAt", "rate"] where model[name] == nil { model[name] = false }
        return model
    }

    private static func fields(_ request: PageRequest, apps: [String]) -> [FormField] {
        let (form, texts) = (request.form, request.texts)
        return [
            FormField("name", texts["keys.name"], value: form["name"] ?? "", isRequired: true, maximum: 200),
            FormField(
                "scopes",
                texts["keys.scopes"],
                .checks(self.scopes.map { ($0, texts["keys.scope.\($0)"]) }),
                values: form.values("scopes")
            ),
            FormField(
                "apps",
                texts["keys.apps"],
                .checks(apps.map { ($0, $0) }),
                values: form.values("apps"),
                hint: texts["keys.appsHint"]
            ),
            FormField(
                "days",
                texts["keys.lifetime"],
                .choice(self.lifetimes.map { ($0, texts["keys.lifetimes.d\($0)"]) }),
                value: form["days"] ?? "90"
            ),
            FormField("rate", texts["keys.rate"], .line(type: "number"), value: form["rate"] ?? ""),
        ]
    }

    /// Issues a key, and shows its text, once.
    private func add(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        do {
            let form = request.form
            let seconds = try form.number("days", in: 1...3660).map { JSONValue.integer($0 * 86_400) }
            let body = JSONValue.members([
                "name": .string(form["name"] ?? ""),
                "scopes": .array(form.values("scopes").map(JSONValue.string)),
                "apps": JSONValue.texts(form.values("apps")), "expiresIn": seconds,
                "rate": try form.number("rate", in: 1...100_000).map(JSONValue.integer),
            ])
            let key = try await request.call(.post("/v1/keys", body))
            return SecretPage.page(
                request,
                title: "keys.added",
                explanation: "keys.once",
                secret: key["key"].stringValue ?? "",
                next: "\(Dashboard.root)/keys"
            )
        } catch let error as RequestError where error.kind != .forbidden {
            return try await self.page(request, error: error)
        }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        do {
            _ = try await request.call(.delete("/v1/keys/\(FormText.encoded(request.parameter("key")))"))
            return request.redirect(to: "/keys", done: "removed")
        } catch let error as RequestError where error.kind != .forbidden {
            return try await self.page(request, error: error)
        }
    }
}
