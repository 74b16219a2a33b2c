import Hummingbird
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
import PushTypes

/// `/v1/apps`: the apps that notifications are sent to.
struct AppsController: Controller {
    let store: any AppStore
    let faults: ConfigurationFaultTracker
    let time: any TimeSource

    private static let bundleID = Member.text("bundleId", maximum: Topic.maximumLength, as: .bundleID)
        .parsed("invalid_bundle_id", "use letters, digits, dots, hyphens or underscores") { Topic($0) }
    private static let name = Member.text("name", 1...200).clearable
    private static let rate = Member.integer("rate", 1...PaceSettings.maximumRate).clearable
        .described("Pushes per second of all campaigns together; null for no limit.")
    private static let receipts = Member.receiptPrivacy("receipts").clearable
        .described("The receipt level that apps may report at most. Default none.")
    static let addition = RequestObject(
        required: [Self.bundleID],
        optional: [Self.name, Self.rate, Self.receipts]
    ) { $0.example(.texts(["bundleId": "com.example.MyApp"])) }

    private static let tags = NamePatterns.member("installationTags")
    private static let attributes = NamePatterns.member("installationAttributes")
    static let changes = RequestObject(
        optional: [Self.name, Self.rate, Self.receipts, Self.tags, Self.attributes, CapSetting.member]
    )

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/apps", id: "listApps", "All apps, or those of the API key.", self.list)
                .tag(.apps).scope(.read).filteredByApp().responses(.ok(.list("apps", of: AppResponse.schema))),
            .init(.post, "/v1/apps", .audited, id: "addApp", "Adds an app.", self.add)
                .tag(.apps).scope(.admin)
                .body(Self.addition.schema)
                .responses(.created(AppResponse.schema), .ok(AppResponse.schema, "It exists already."))
                .errors(.conflict),
            .init(.get, "/v1/apps/{app}", id: "showApp", "One app.", self.show)
                .tag(.apps).scope(.read).responses(.ok(AppResponse.schema)),
            .init(.patch, "/v1/apps/{app}", .audited, id: "changeApp", "Changes an app's settings.", self.change)
                .tag(.apps).scope(.admin).body(Self.changes.schema)
                .responses(.ok(AppResponse.schema)),
        ]
    }

    /// Adds an app. For an app that exists, it changes nothing and responds with 200 and the present state.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(Self.addition)
        let bundleID = try fields.required(Self.bundleID)
        let changes = try Self.changes(fields)
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
        let fields = try await request.fields(Self.changes)
        var changes = try Self.changes(fields)
        changes.installationTags = try fields.value(Self.tags)
        changes.installationAttributes = try fields.value(Self.attributes)
        changes.cap = try fields.value(CapSetting.member)
        return try .json(try await self.response(try await self.store.changeApp(app.id, changes) ?? app))
    }

    /// Reads the members that both a new app and a change of an app may have.
    private static func changes(_ fields: JSONFields) throws -> AppChanges {
        AppChanges(
            name: try fields.value(Self.name),
            rate: try fields.value(Self.rate).map { $0.map { Int($0) } },
            receipts: try fields.value(Self.receipts).map { $0.value ?? ReceiptLevel.none }
        )
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

/// The JSON of an app in responses: its settings, the states of its environments, and its stop.
package struct AppResponse: ResponseObject {
    package let app: AppRecord
    /// The environments with a credential, in alphabetical order.
    package let environments: [String]
    package let states: [EnvironmentResponse]
    package let stop: AppStopResponse

    private var tags: [String] { self.app.installationTags.texts }
    private var attributes: [String] { self.app.installationAttributes.texts }
    private var cap: CapSetting? { self.app.cap.map(CapSetting.init) }

    package static let schemaName: String? = "App"
    package static let members: [ResponseMember<Self>] = [
        .required("bundleId", \.app.bundleID),
        .optional("name", \.app.name),
        .optional("rate", \.app.rate, "Pushes per second of all its campaigns together."),
        .required("installationTags", \.tags, "The tags that installations may write themselves."),
        .required("installationAttributes", \.attributes, "The attributes that installations may write themselves."),
        .optional("cap", \.cap, "The most notifications of a user, but for urgent ones."),
        .required("receipts", \.app.receipts.word, as: .choice(ReceiptLevel.allCases.map(\.word))),
        .required("environments", \.environments, "The environments with a credential."),
        .required("environmentStates", \.states, "Whether pushes are sent, per environment."),
        .required("stop", \.stop, "Whether a person has stopped everything of the app."),
        .required("createdAtMs", \.app.createdAt),
    ]
}

/// The cap of an app, as requests and responses write it.
private struct CapSetting: JSONRepresentable {
    let cap: FrequencyCap

    private static let count = Member.integer("count", 1...FrequencyCap.maximumCount)
    private static let window = Member.text("window", 2...12, pattern: DurationText.pattern)
        .described("Such as 24h; at most 30d.")
        .parsed("invalid_value", "use a time such as 90m, 24h or 7d, of 30d at most") { text -> Int64? in
            DurationText.seconds(text).flatMap { (1...FrequencyCap.maximumWindow).contains($0) ? $0 : nil }
        }

    private static let object = RequestObject(required: [Self.count, Self.window]) { $0.named("Cap") }
    static let schema = Self.object.schema

    var json: JSONValue {
        .object(["count": .integer(Int64(self.cap.count)), "window": .string(DurationText.text(self.cap.window))])
    }

    static let member = Member.object("cap", Self.object) { (cap) throws(RequestError) -> FrequencyCap in
        guard let count = try cap.value(Self.count) else {
            throw cap.error("count", "missing_field", "the most notifications in the window")
        }
        return FrequencyCap(count: Int(count), window: try cap.required(Self.window))
    }.clearable
}

extension NamePatterns {
    /// Makes a member that holds an array of patterns. `null` stands for an empty array.
    fileprivate static func member(_ name: String) -> RequestMember<NamePatterns> {
        let texts = Member.texts(name, 0...Self.maximum, maximum: DeviceRequest.maximumText)
        let schema = texts.schema.orNull
            .described("Names that installations may write; one that ends in * stands for all that begin so.")
        return RequestMember<NamePatterns>(name, schema) { (fields, name) throws(RequestError) in
            if fields.nulls.contains(name) { return NamePatterns() }
            guard let given = try fields.value(texts) else { return nil }
            for (index, text) in given.enumerated() where !Self.isPattern(text) {
                throw fields.error("\(name)[\(index)]", "invalid_value", "a * may only be at the end, such as news.*")
            }
            return NamePatterns(given)
        }
    }
}
