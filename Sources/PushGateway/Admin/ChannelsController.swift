import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/channels`: broadcast channels, which providers create over HTTP/2 (reference 4.1).
struct ChannelsController: Controller {
    let registry: ProviderRegistry
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    let time: any TimeSource

    /// A channel in a response.
    private struct Entry: Encodable {
        var channelId: String
        var environment: String
        var bundleId: String
        /// The storage policy: 0 for none, 1 for the newest broadcast.
        var policy: Int
    }

    var operations: [AdminOperation] {
        [
            .init(.get, "/v1/channels", id: "listChannels", "The channels of an app.", self.list)
                .parameters(AdminPage.parameters + [.environment, .query("bundleId", "The app.")]),
            .init(.post, "/v1/channels", .unaudited, id: "createChannel", "Creates a channel.", self.create)
                .body(.admin),
            .init(
                .delete,
                "/v1/channels/{environment}/{bundle}/{channel}",
                .unaudited,
                id: "deleteChannel",
                "Deletes a channel.",
                self.delete
            ),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let environment = try Self.environment(request.query["environment"])
        let app = try self.app(request.query["bundleId"])
        let ids = self.channels.channels(app: app, in: environment).drop { id in page.after.map { id <= $0 } ?? false }
        return try page.response("channels", Array(ids.prefix(page.fetch))) { id in
            (self.entry(id, app, environment), id)
        }
    }

    private func create(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(["environment", "bundleId", "policy"])
        let environment = try Self.environment(try fields.environment("environment")?.rawValue)
        let app = try self.app(try fields.topic("bundleId").name)
        let number = try fields.integer("policy", in: 0...1) ?? 0
        let policy: ChannelPolicy = number == 1 ? .newest : .nothing
        guard let id = try await self.channels.create(policy, app: app, in: environment, now: self.time.now) else {
            throw RequestError.full("channels of this app", ChannelRegistry.capacity)
        }
        return try .json(self.entry(id, app, environment), status: .created)
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let environment = try Self.environment(request.path("environment"))
        let app = try self.app(request.path("bundle"))
        let id = request.path("channel")
        guard try await self.channels.delete(id, app: app, in: environment) else {
            throw RequestError.noSuch("channel")
        }
        for core in self.environments where core.environment == environment {
            core.router.channelDeleted(bundleID: app, channelID: id)
        }
        return .noContent
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

    /// Returns the bundle id of a registered app.
    private func app(_ text: String?) throws -> Topic {
        guard let app = text.flatMap({ Topic($0) }), self.registry.app(app) != nil else {
            throw RequestError.noSuch("app", by: "bundle id", at: "bundleId")
        }
        return app
    }

    private static func environment(_ text: String?) throws -> PushEnvironment {
        guard let environment = text.flatMap(PushEnvironment.init(rawValue:)) else {
            throw RequestError.invalidEnvironment()
        }
        return environment
    }
}
