import Foundation
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport

/// The page of one API key, on which its name, scopes, apps, expiry and rate can be changed.
struct KeyDetailPages: FormArea {
    /// The value of the field `days` that leaves the expiry unchanged.
    private static let keeps = "keep"

    var routes: [PageRoute] {
        [
            .get("/keys/{key}", { try await self.page($0, error: nil) }),
            self.form("/keys/{key}/edit", scope: .admin, showsForbidden: false, self.change),
        ]
    }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let id = request.parameter("key")
        let keys = try await request.list("/v1/keys", of: KeyResponse.self).entries
        guard let key = keys.first(where: { $0.record.id.uuidString.lowercased() == id.lowercased() }) else {
            throw RequestError.noSuch("key")
        }
        var model = KeyListPages.row(key, request)
        model["was"] = InitialFormValues.value(Self.stored(key), request)
        model["fields"] = FormModel.fields(
            "key",
            try await self.fields(key, request),
            error: error,
            names: ["expiresIn": "days", "expiresAt": "days", "key": "scopes"]
        )
        return request.page("key", title: key.record.name, model, error: error)
    }

    /// Returns the stored values of the members that the form can change. The expiry is not included, because the form
    /// offers a choice of lifetimes instead.
    private static func stored(_ key: KeyResponse) -> [String: JSONValue] {
        [
            "name": .string(key.record.name), "scopes": key.scopes.json, "apps": AppLimit.member(key.apps),
            "rate": key.record.rate?.json ?? .null,
        ]
    }

    /// Returns the fields of the form. They show the posted values if there are any, and otherwise the stored ones.
    private func fields(_ key: KeyResponse, _ request: PageRequest) async throws -> [FormField] {
        let isTyped = request.form["name"] != nil
        return KeyListPages.fields(
            request,
            apps: try await AppLimit.fields(request, set: key.apps, isTyped: isTyped),
            values: .init(
                name: request.form["name"] ?? key.record.name,
                scopes: isTyped ? request.form.values("scopes") : key.scopes.map(\.rawValue),
                days: request.form["days"] ?? Self.keeps,
                rate: request.form["rate"] ?? key.record.rate.map { "\($0)" } ?? ""
            ),
            lifetimes: [Self.keeps] + KeyListPages.lifetimes
        )
    }

    private func change(_ request: PageRequest) async throws -> Response {
        let form = request.form
        let wanted: [String: JSONValue] = [
            "name": .string(form["name"] ?? ""), "scopes": .array(form.values("scopes").sorted().map(JSONValue.string)),
            "apps": try AppLimit.chosen(form, request.texts),
            "rate": try form.number("rate", of: APIKeyRequest.change["rate"]).map(JSONValue.integer) ?? .null,
        ]
        var changes = InitialFormValues.changes(wanted, form)
        if form["days"] != Self.keeps { changes["expiresIn"] = try KeyListPages.lifetime(form) ?? .null }
        let id = URLText.encoded(request.parameter("key"))
        if !changes.isEmpty { _ = try await request.call(.patch("/v1/keys/\(id)", .object(changes))) }
        return request.redirect(to: "/keys", done: "saved")
    }
}
