import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// One API key: its name, scopes, apps, expiry and rate, which can be changed while it is used.
struct KeyPages: PageArea {
    /// The choice of a lifetime that leaves the expiry as it is.
    private static let keeps = "keep"

    var routes: [PageRoute] { [.get("/keys/{key}", self.show), .post("/keys/{key}/edit", self.change)] }

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request, error: nil) }

    private func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let id = request.parameter("key")
        let keys = try await request.get("/v1/keys")["keys"].elements
        guard let key = keys.first(where: { $0["id"].stringValue?.lowercased() == id.lowercased() }) else {
            throw RequestError.noSuch("key")
        }
        var model = KeysPages.row(key, request)
        model["fields"] = FormModel.fields(
            "key",
            try await self.fields(key, request),
            error: error,
            names: ["expiresIn": "days", "expiresAt": "days", "key": "scopes"]
        )
        return request.page("key", title: key["name"].stringValue ?? "keys.title", model, error: error)
    }

    /// Returns the fields with what was typed, or else with what is set.
    private func fields(_ key: JSONValue, _ request: PageRequest) async throws -> [FormField] {
        let isTyped = request.form["name"] != nil
        func texts(_ name: String) -> [String] {
            isTyped ? request.form.values(name) : key[name].elements.compactMap(\.stringValue)
        }
        return KeysPages.fields(
            request,
            apps: try await KeysPages.apps(request),
            values: .init(
                name: request.form["name"] ?? key["name"].stringValue ?? "",
                scopes: texts("scopes"),
                apps: texts("apps"),
                days: request.form["days"] ?? Self.keeps,
                rate: request.form["rate"] ?? key["rate"].integerValue.map { "\($0)" } ?? ""
            ),
            lifetimes: [Self.keeps] + KeysPages.lifetimes
        )
    }

    private func change(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        do {
            let form = request.form
            var members: [String: JSONValue] = [
                "name": .string(form["name"] ?? ""), "scopes": .array(form.values("scopes").map(JSONValue.string)),
                "apps": JSONValue.texts(form.values("apps")) ?? .null,
                "rate": try form.number("rate", in: 1...100_000).map(JSONValue.integer) ?? .null,
            ]
            if form["days"] != Self.keeps { members["expiresIn"] = try KeysPages.lifetime(form) ?? .null }
            let id = FormText.encoded(request.parameter("key"))
            _ = try await request.call(.patch("/v1/keys/\(id)", .object(members)))
            return request.redirect(to: "/keys", done: "saved")
        } catch let error as RequestError where error.kind != .forbidden {
            return try await self.page(request, error: error)
        }
    }
}
