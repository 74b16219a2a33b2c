import Hummingbird
package import ProviderModel
import PushHTTP
import PushProvider
import PushStore
package import PushSupport

/// The operations at `/v1/apps/{app}/users/{user}/preferences`, for preferences that an app's back end sets for a user.
struct UserPreferencesController: Controller {
    let store: any AppStore & UserStore
    /// The queue of pushes in memory. An opt-out removes the affected pushes from it.
    let direct: DirectDispatch

    private static let response = Schema.object(
        required: [
            (
                "underWay",
                .integer(0 ... .max).described("The pushes to the user's devices that they came too late for.")
            )
        ],
        optional: Preferences.object.members.map { ($0.name, $0.schema) }
    ).named("UserPreferences")

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/users/{user}/preferences"
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showPreferences", "The user's own opt-outs and quiet hours.", self.show)
                .scope(.read).responses(.ok(Preferences.object.schema)),
            .init(.put, path, .unaudited, id: "setPreferences", self.set)
                .summary("Replaces the user's opt-outs, which devices add to, and the quiet hours, which come first.")
                .scope(.register).body(Preferences.object.schema, maximum: 64 * 1024).responses(.ok(Self.response)),
        ]
        return operations.map { $0.tag(.devices) }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .json(try await self.store.preferences(app: app.id, user: try request.user()))
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let (app, user) = (try await request.app(self.store), try request.user())
        let preferences = try Preferences(try await request.fields(Preferences.object))
        guard let devices = try await self.store.setPreferences(preferences, app: app.id, user: user) else {
            throw RequestError.noSuch("app", by: "bundle id")
        }
        // These pushes were prepared with the previous preferences.
        let underWay = self.direct.takeBack(devices: devices, app: app.id)
        guard case .object(var members) = preferences.json else { return try .json(preferences.json) }
        members["underWay"] = .integer(Int64(underWay))
        return try .json(JSONValue.object(members))
    }
}

extension Preferences: JSONRepresentable {
    package static var schema: Schema { Self.object.schema }
}
