import Hummingbird
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
import PushTypes

/// `/v1/apps/{app}/users/{user}/preferences`: what a user has said to the app's back end.
struct UserPreferencesController: Controller {
    let store: any ProviderStore
    /// The notifications in memory, where an opt-out finds them.
    let direct: DirectDispatch

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/users/{user}/preferences"
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "showPreferences", "The user's own opt-outs and quiet hours.", self.show)
                .scope(.read).responses(.ok(.preferences)),
            .init(.put, path, .unaudited, id: "setPreferences", self.set)
                .summary("Replaces the user's opt-outs, which devices add to, and the quiet hours, which come first.")
                .scope(.register).body(.preferences, maximum: 64 * 1024).responses(.ok(.userPreferences)),
        ]
        return operations.map { $0.tag(.devices) }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .json(try await self.store.preferences(app: app.id, user: try request.user()))
    }

    private func set(_ request: OperationRequest) async throws -> Response {
        let (app, user) = (try await request.app(self.store), try request.user())
        let preferences = try Preferences(try await request.fields(Preferences.members))
        guard let devices = try await self.store.setPreferences(preferences, app: app.id, user: user) else {
            throw RequestError.noSuch("app", by: "bundle id")
        }
        // They were read with the earlier preferences.
        let underWay = self.direct.takeBack(devices: devices, app: app.id)
        guard case .object(var members) = preferences.json else { return try .json(preferences.json) }
        members["underWay"] = .integer(Int64(underWay))
        return try .json(JSONValue.object(members))
    }
}

extension Preferences: JSONRepresentable {
    package static var schema: Schema { .preferences }
}
