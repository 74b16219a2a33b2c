import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/apps`: what may be pushed to.
struct AppsController: AdminRoutes {
    let registry: ProviderRegistry
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    /// Whether a new app may use broadcasts if its registration does not say.
    let allowsBroadcastByDefault: Bool

    private struct App: Encodable {
        var teamId: String
        var bundleId: String
        var broadcast: Bool
        /// Absent where the gateway's setting counts.
        var tokenLength: Int?

        init(_ app: ProviderApp) {
            self.teamId = app.teamID
            self.bundleId = app.bundleID.name
            self.broadcast = app.allowsBroadcast
            self.tokenLength = app.tokenLength
        }
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("apps", use: self.list).post("apps", use: self.add)
        group.get("apps/:app", use: self.get).patch("apps/:app", use: self.change).delete("apps/:app", use: self.delete)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let page = try AdminPage(request)
        return try page.answer("apps", self.registry.apps(after: page.after, limit: page.fetch)) { app in
            (App(app), app.bundleID.name)
        }
    }

    @Sendable private func add(_ request: Request, _ context: AdminContext) async throws -> Response {
        let fields = try JSONFields(
            parsing: try await context.body(of: request),
            known: ["teamId", "bundleId", "broadcast", "tokenLength"]
        )
        let team = try fields.identifier("teamId")
        let app = ProviderApp(
            bundleID: try fields.topic("bundleId"),
            teamID: team,
            allowsBroadcast: try fields.bool("broadcast") ?? self.allowsBroadcastByDefault,
            tokenLength: try Self.tokenLength(fields)
        )
        switch try await self.registry.add(app: app) {
        case .added: return try JSONResponse.make(.created, App(app))
        case .alreadyThere: return try JSONResponse.make(.ok, App(self.registry.app(app.bundleID) ?? app))
        case .conflict:
            throw RequestError(
                .conflict,
                code: "other_team",
                message: "this app is registered for another team",
                path: "teamId"
            )
        case .full: throw AdminErrors.full("apps", ProviderRegistry.capacity)
        }
    }

    @Sendable private func get(_ request: Request, _ context: AdminContext) async throws -> Response {
        guard let app = try self.registry.app(Self.bundleID(context)) else { throw Self.noSuchApp }
        return try JSONResponse.make(.ok, App(app))
    }

    /// Switching broadcasts off deletes all channels of the app (reference 4.1).
    @Sendable private func change(_ request: Request, _ context: AdminContext) async throws -> Response {
        let bundleID = try Self.bundleID(context)
        let fields = try JSONFields(
            parsing: try await context.body(of: request),
            known: ["broadcast", "tokenLength"]
        )
        var change = ProviderAppChange(allowsBroadcast: try fields.bool("broadcast"))
        if fields.nulls.contains("tokenLength") {
            change.tokenLength = .some(nil)
        } else if let length = try Self.tokenLength(fields) {
            change.tokenLength = length
        }
        guard change != ProviderAppChange() else {
            throw fields.refusal("broadcast", "missing_field", "this member or tokenLength is required")
        }
        guard let app = try await self.registry.update(app: bundleID, change) else { throw Self.noSuchApp }
        if change.allowsBroadcast == false { try await self.deleteChannels(of: bundleID) }
        return try JSONResponse.make(.ok, App(app))
    }

    private static func tokenLength(_ fields: JSONFields) throws -> Int? {
        guard let length = try fields.integer("tokenLength", in: 0...Int64(TokenMinter.shortLength)).map({ Int($0) })
        else { return nil }
        guard ProviderApp.tokenLengths.contains(length) else {
            throw fields.refusal("tokenLength", "invalid_value", "use 32, or 0 for tokens of varying length")
        }
        return length
    }

    /// Its tokens stay with the devices, but nobody may push to them any more.
    @Sendable private func delete(_ request: Request, _ context: AdminContext) async throws -> Response {
        let bundleID = try Self.bundleID(context)
        guard try await self.registry.remove(app: bundleID) else { throw Self.noSuchApp }
        try await self.deleteChannels(of: bundleID)
        return Response(status: .noContent)
    }

    /// The cores forget who followed them and what they stored.
    private func deleteChannels(of bundleID: Topic) async throws {
        let deleted = try await self.channels.deleteAll(app: bundleID)
        for core in self.environments {
            for channel in deleted where channel.environment == core.environment {
                core.router.channelDeleted(bundleID: bundleID, channelID: channel.id)
            }
        }
    }

    private static func bundleID(_ context: AdminContext) throws -> Topic {
        guard let topic = context.parameters.get("app").flatMap({ Topic($0) }) else { throw Self.noSuchApp }
        return topic
    }

    private static var noSuchApp: RequestError {
        RequestError(
            .notFound,
            code: "no_such_app",
            message: "no app is registered with this bundle id",
            path: "app"
        )
    }
}
