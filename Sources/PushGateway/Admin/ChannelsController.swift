import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/channels`: broadcast channels, as a provider makes them over HTTP/2 (reference 4.1).
struct ChannelsController: AdminRoutes {
    let registry: ProviderRegistry
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    let time: any TimeSource

    private struct Entry: Encodable {
        var channelId: String
        var environment: String
        var bundleId: String
        /// 0 nothing is stored, 1 the newest broadcast.
        var policy: Int
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("channels", use: self.list).post("channels", use: self.create)
        group.delete("channels/:environment/:bundle/:channel", use: self.delete)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let page = try AdminPage(request)
        let environment = try Self.environment(request.uri.queryParameters["environment"].map(String.init))
        let app = try self.app(request.uri.queryParameters["bundleId"].map(String.init))
        let ids = self.channels.channels(app: app, in: environment).drop { id in page.after.map { id <= $0 } ?? false }
        return try page.answer("channels", Array(ids.prefix(page.fetch))) { id in
            (self.entry(id, app, environment), id)
        }
    }

    @Sendable private func create(_ request: Request, _ context: AdminContext) async throws -> Response {
        let fields = try JSONFields(
            parsing: try await context.body(of: request),
            known: ["environment", "bundleId", "policy"]
        )
        let environment = try Self.environment(try fields.environment("environment")?.rawValue)
        let app = try self.app(try fields.topic("bundleId").name)
        let number = try fields.integer("policy", in: 0...1) ?? 0
        let policy: ChannelPolicy = number == 1 ? .newest : .nothing
        guard let id = try await self.channels.create(policy, app: app, in: environment, now: self.time.now) else {
            throw AdminErrors.full("channels of this app", ChannelRegistry.capacity)
        }
        return try JSONResponse.make(.created, self.entry(id, app, environment))
    }

    @Sendable private func delete(_ request: Request, _ context: AdminContext) async throws -> Response {
        let environment = try Self.environment(context.parameters.get("environment"))
        let app = try self.app(context.parameters.get("bundle"))
        let id = context.parameters.get("channel").flatMap { $0.removingPercentEncoding } ?? ""
        guard try await self.channels.delete(id, app: app, in: environment) else {
            throw RequestError(
                .notFound,
                code: "no_such_channel",
                message: "this app has no channel of this id",
                path: "channel"
            )
        }
        for core in self.environments where core.environment == environment {
            core.router.channelDeleted(bundleID: app, channelID: id)
        }
        return Response(status: .noContent)
    }

    private func entry(_ id: String, _ app: Topic, _ environment: PushEnvironment) -> Entry {
        let policy = self.channels.policy(of: id, app: app, in: environment)
        return Entry(
            channelId: id,
            environment: environment.rawValue,
            bundleId: app.name,
            policy: policy?.rawValue ?? 0
        )
    }

    private func app(_ text: String?) throws -> Topic {
        guard let app = text.flatMap({ Topic($0) }), self.registry.app(app) != nil else {
            throw RequestError(
                .notFound,
                code: "no_such_app",
                message: "no app is registered under this bundle id",
                path: "bundleId"
            )
        }
        return app
    }

    private static func environment(_ text: String?) throws -> PushEnvironment {
        guard let environment = text.flatMap(PushEnvironment.init(rawValue:)) else {
            throw RequestError(
                .invalid,
                code: "invalid_environment",
                message: "use sandbox or production",
                path: "environment"
            )
        }
        return environment
    }
}
