import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operations at `/v1/apps`, which manage the apps to which notifications are sent.
struct AppsController: Controller {
    let store: any AppStore
    let faults: ConfigurationFaultTracker
    let time: any TimeSource

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/apps", id: "listApps", "All apps, or those of the API key.", self.list)
                .tag(.apps).scope(.read).filteredByApp().responses(.ok(.list("apps", of: AppResponse.schema))),
            .init(.post, "/v1/apps", .audited, id: "addApp", "Adds an app.", self.add)
                .tag(.apps).scope(.admin)
                .body(AppRequest.addition.schema)
                .responses(.created(AppResponse.schema), .ok(AppResponse.schema, "It exists already."))
                .errors(.conflict),
            .init(.get, "/v1/apps/{app}", id: "showApp", "One app.", self.show)
                .tag(.apps).scope(.read).responses(.ok(AppResponse.schema)),
            .init(.patch, "/v1/apps/{app}", .audited, id: "changeApp", "Changes an app's settings.", self.change)
                .tag(.apps).scope(.admin).body(AppRequest.change.schema)
                .responses(.ok(AppResponse.schema)),
        ]
    }

    /// Adds an app. If the app exists, changes nothing and responds with 200 and the existing app.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AppRequest.addition)
        let bundleID = try fields.required(AppRequest.bundleID)
        let changes = try AppChanges(fields)
        let app: AppRecord
        let isNew: Bool
        do {
            (app, isNew) = try await self.store.addApp(bundleID: bundleID, changes, now: self.time.now)
        } catch let error as StoreError where error == .beingErased(bundleID) {
            throw RequestError.conflict("being_erased", "\(error)", at: "bundleId")
        }
        return try .json(try await self.response(app), status: isNew ? .created : .ok)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        var apps: [AppResponse] = []
        for app in try await self.store.apps() where request.caller?.mayUse(app.bundleID) ?? true {
            apps.append(try await self.response(app))
        }
        return try .page("apps", apps)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        try .json(try await self.response(try await request.app(self.store)))
    }

    /// Changes the members that are in the body and leaves the others. `null` removes a value.
    private func change(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let changes = try AppChanges(try await request.fields(AppRequest.change))
        return try .json(try await self.response(try await self.store.changeApp(app.id, changes) ?? app))
    }

    /// Returns the response for an app, with the state of each environment that has a credential or a fault.
    private func response(_ app: AppRecord) async throws -> AppResponse {
        let environments = try await self.store.environments(app: app.id)
        var states: [EnvironmentResponse] = []
        for environment in PushEnvironment.allCases {
            let state = try await EnvironmentResponse(app, environment, self.faults)
            if state.status != nil || environments.contains(environment) { states.append(state) }
        }
        return AppResponse(
            app: app,
            environments: environments.map(\.rawValue).sorted(),
            states: states,
            stop: AppStopResponse(stop: try await self.store.stop(of: app.id))
        )
    }
}

/// The response object for an app: its settings, the states of its environments, and its stop.
package struct AppResponse: ResponseObject {
    package let app: AppRecord
    /// The names of the environments with a credential, in alphabetical order.
    package let environments: [String]
    package let states: [EnvironmentResponse]
    package let stop: AppStopResponse

    private var tags: [String] { self.app.installationTags.texts }
    private var attributes: [String] { self.app.installationAttributes.texts }
    private var cap: JSONValue? { self.app.cap?.json }

    package static let schemaName: String? = "App"
    package static let members: [ResponseMember<Self>] = [
        .required("bundleId", \.app.bundleID),
        .optional("name", \.app.name),
        .optional("rate", \.app.rate, "Pushes per second of all its campaigns together."),
        .required("installationTags", \.tags, "The tags that installations may write themselves."),
        .required("installationAttributes", \.attributes, "The attributes that installations may write themselves."),
        .optional(
            "cap",
            \.cap,
            as: FrequencyCap.object.schema,
            "The most notifications of a user, but for urgent ones."
        ),
        .required("receipts", \.app.receipts.word, as: .choice(ReceiptLevel.allCases.map(\.word))),
        .required("environments", \.environments, "The environments with a credential."),
        .required("environmentStates", \.states, "Whether pushes are sent, per environment."),
        .required("stop", \.stop, "Whether a person has stopped everything of the app."),
        .required("createdAtMs", \.app.createdAt),
    ]
}
