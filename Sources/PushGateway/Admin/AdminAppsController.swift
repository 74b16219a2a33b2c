import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/apps`: the apps that accept pushes.
struct AdminAppsController: Controller {
    let registry: ProviderRegistry
    /// The channels that end with their app.
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    /// The default of `broadcast` in a registration.
    let allowsBroadcastByDefault: Bool

    var operations: [AdminOperation] {
        [
            .get("/v1/apps", "listApps", "All apps.", self.list).parameters(AdminPage.parameters),
            .post("/v1/apps", "addApp", "Registers an app.", self.add).body(.admin),
            .get("/v1/apps/{app}", "showApp", "One app.", self.show),
            .init(.patch, "/v1/apps/{app}", .unaudited, id: "changeApp", "Changes the rules of an app.", self.change)
                .body(.admin),
            .delete("/v1/apps/{app}", "deleteApp", "Removes an app and its channels.", self.delete),
        ]
    }

    /// Responds with a page of the apps, in the order of their bundle ids.
    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        return try page.response("apps", self.registry.apps(after: page.after, limit: page.fetch)) { $0.bundleID.name }
    }

    /// Registers an app. It responds with 200 for one that the same team has registered already.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(["teamId", "bundleId", "broadcast", "tokenLength"])
        let team = try fields.identifier("teamId")
        let app = ProviderApp(
            bundleID: try fields.topic("bundleId"),
            teamID: team,
            allowsBroadcast: try fields.bool("broadcast") ?? self.allowsBroadcastByDefault,
            tokenLength: try Self.tokenLength(fields)
        )
        switch try await self.registry.add(app: app) {
        case .added: return try .json(app, status: .created)
        case .alreadyThere: return try .json(self.registry.app(app.bundleID) ?? app)
        case .conflict:
            throw RequestError.conflict("other_team", "this app is registered for another team", at: "teamId")
        case .full: throw RequestError.full("apps", ProviderRegistry.capacity)
        }
    }

    /// Responds with one app.
    private func show(_ request: OperationRequest) async throws -> Response {
        guard let app = try self.registry.app(Self.bundleID(request)) else { throw Self.noSuchApp }
        return try .json(app)
    }

    /// Changes the rules of an app. Switching broadcasts off deletes all its channels (reference 4.1).
    private func change(_ request: OperationRequest) async throws -> Response {
        let bundleID = try Self.bundleID(request)
        let fields = try await request.fields(["broadcast", "tokenLength"])
        var change = ProviderAppChange(allowsBroadcast: try fields.bool("broadcast"))
        if fields.nulls.contains("tokenLength") {
            change.tokenLength = .some(nil)
        } else if let length = try Self.tokenLength(fields) {
            change.tokenLength = length
        }
        guard change != ProviderAppChange() else {
            throw fields.error("broadcast", "missing_field", "this member or tokenLength is required")
        }
        guard let app = try await self.registry.update(app: bundleID, change) else { throw Self.noSuchApp }
        if change.allowsBroadcast == false { try await self.deleteChannels(of: bundleID) }
        return try .json(app)
    }

    /// Returns the length of device tokens: 32, or 0 for sealed tokens; `nil` if the member is absent.
    private static func tokenLength(_ fields: JSONFields) throws -> Int? {
        guard let length = try fields.integer("tokenLength", in: 0...Int64(TokenMinter.shortLength)).map({ Int($0) })
        else { return nil }
        guard ProviderApp.tokenLengths.contains(length) else {
            throw fields.error("tokenLength", "invalid_value", "use 32, or 0 for tokens of varying length")
        }
        return length
    }

    /// Removes an app. Devices keep its tokens, but pushes to them are rejected.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let bundleID = try Self.bundleID(request)
        guard try await self.registry.remove(app: bundleID) else { throw Self.noSuchApp }
        try await self.deleteChannels(of: bundleID)
        return .noContent
    }

    /// Deletes all channels of an app, with their subscriptions and stored messages.
    private func deleteChannels(of bundleID: Topic) async throws {
        let deleted = try await self.channels.deleteAll(app: bundleID)
        for core in self.environments {
            for channel in deleted where channel.environment == core.environment {
                core.router.channelDeleted(ChannelName(bundleID: bundleID, id: channel.id))
            }
        }
    }

    /// Returns the bundle id in the path. One that is not valid names no app.
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
