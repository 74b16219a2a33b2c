import Hummingbird
import PushHTTP
package import PushSupport
import PushTypes

/// The JSON members of requests to register or change an app.
package enum AdminAppRequest {
    fileprivate static let team = Member.identifier("teamId")
    fileprivate static let bundleID = Member.topic("bundleId")
    fileprivate static let broadcast = Member.bool("broadcast").described("Default: the gateway's setting.")
    /// The member for the length of the app's device tokens, in bytes.
    fileprivate static let tokenLength = Member.integer(
        "tokenLength",
        0...Int64(TokenMinter.shortLength),
        as: .integer(of: ProviderApp.tokenLengths.map { Int64($0) })
    )
    .described("Bytes; 0 for tokens of varying length. Default: the gateway's setting.")
    .parsed("invalid_value", "use 32, or 0 for tokens of varying length") { length in
        ProviderApp.tokenLengths.first { $0 == length }
    }
    fileprivate static let changedLength = Self.tokenLength.clearable

    package static let addition = RequestObject(
        required: [Self.team, Self.bundleID],
        optional: [Self.broadcast, Self.tokenLength]
    )
    package static let change = RequestObject(optional: [Self.broadcast, Self.changedLength]) { $0.withMembers }
}

/// The operations at `/v1/apps`, which manage the apps that accept pushes.
struct AdminAppsController: Controller {
    let registry: ProviderRegistry
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    /// A Boolean value that indicates whether an app whose registration omits `broadcast` may use broadcasts.
    let allowsBroadcastByDefault: Bool

    var operations: [AdminOperation] {
        [
            .get("/v1/apps", "listApps", "All apps.", self.list).parameters(AdminPage.parameters),
            .post("/v1/apps", "addApp", "Registers an app.", self.add)
                .body(.admin(AdminAppRequest.addition)),
            .get("/v1/apps/{app}", "showApp", "One app.", self.show),
            .init(.patch, "/v1/apps/{app}", .unaudited, id: "changeApp", "Changes the rules of an app.", self.change)
                .body(.admin(AdminAppRequest.change)),
            .delete("/v1/apps/{app}", "deleteApp", "Removes an app and its channels.", self.delete),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        return try page.response("apps", self.registry.apps(after: page.after, limit: page.fetch)) { $0.bundleID.name }
    }

    /// Registers an app. The status is 200 if the same team has registered it already.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AdminAppRequest.addition)
        let team = try fields.required(AdminAppRequest.team)
        let app = ProviderApp(
            bundleID: try fields.required(AdminAppRequest.bundleID),
            teamID: team,
            allowsBroadcast: try fields.value(AdminAppRequest.broadcast) ?? self.allowsBroadcastByDefault,
            tokenLength: try fields.value(AdminAppRequest.tokenLength)
        )
        switch try await self.registry.add(app: app) {
        case .added: return try .json(app, status: .created)
        case .alreadyThere: return try .json(self.registry.app(app.bundleID) ?? app)
        case .conflict:
            throw RequestError.conflict("other_team", "this app is registered for another team", at: "teamId")
        case .full: throw RequestError.full("apps", ProviderRegistry.capacity)
        }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        guard let app = try self.registry.app(Self.bundleID(request)) else { throw Self.noSuchApp }
        return try .json(app)
    }

    /// Changes the settings of an app. Switching its broadcasts off deletes all of its channels (reference 4.1).
    private func change(_ request: OperationRequest) async throws -> Response {
        let bundleID = try Self.bundleID(request)
        let fields = try await request.fields(AdminAppRequest.change)
        let change = ProviderAppChange(
            allowsBroadcast: try fields.value(AdminAppRequest.broadcast),
            tokenLength: try fields.value(AdminAppRequest.changedLength).map(\.value)
        )
        guard change != ProviderAppChange() else {
            throw fields.error("broadcast", "missing_field", "this member or tokenLength is required")
        }
        guard let app = try await self.registry.update(app: bundleID, change) else { throw Self.noSuchApp }
        if change.allowsBroadcast == false { try await self.deleteChannels(of: bundleID) }
        return try .json(app)
    }

    /// Removes an app. Devices keep its tokens, but pushes to them are rejected because the topic is unknown.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let bundleID = try Self.bundleID(request)
        guard try await self.registry.remove(app: bundleID) else { throw Self.noSuchApp }
        try await self.deleteChannels(of: bundleID)
        return .noContent
    }

    private func deleteChannels(of bundleID: Topic) async throws {
        let deleted = try await self.channels.deleteAll(app: bundleID)
        for core in self.environments {
            for channel in deleted where channel.environment == core.environment {
                core.router.channelDeleted(ChannelName(bundleID: bundleID, id: channel.id))
            }
        }
    }

    /// Returns the bundle id in a request's path. Throws the error for an unknown app if the id is not valid.
    private static func bundleID(_ request: OperationRequest) throws -> Topic {
        guard let topic = request.topic("app") else { throw Self.noSuchApp }
        return topic
    }

    private static var noSuchApp: RequestError { .noSuch("app", by: "bundle id") }
}

extension ProviderApp: ResponseObject {
    static let members: [ResponseMember<Self>] = [
        .required("teamId", \.teamID),
        .required("bundleId", \.bundleID),
        .required("broadcast", \.allowsBroadcast),
        .optional("tokenLength", \.tokenLength, "Absent where the setting of the gateway applies."),
    ]
}
