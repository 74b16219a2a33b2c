import Hummingbird
import PushHTTP
package import PushSupport
import PushTypes

package enum AdminChannelRequest {
    fileprivate static let environment = Member.environment("environment")
    fileprivate static let bundleID = Member.topic("bundleId")
    fileprivate static let policy = Member.integer("policy", 0...1)
        .described("The storage policy: 0 for none, 1 for the newest broadcast. Default: 0.")

    package static let object = RequestObject(required: [Self.environment, Self.bundleID], optional: [Self.policy])
}

/// The operations at `/v1/channels`, which manage broadcast channels, as providers do over HTTP/2 (reference 4.1).
struct AdminChannelsController: Controller {
    let registry: ProviderRegistry
    let channels: ChannelRegistry
    let environments: [EnvironmentCore]
    let time: any TimeSource

    var operations: [AdminOperation] {
        let path = "/v1/channels"
        return [
            .get(path, "listChannels", "The channels of an app.", self.list)
                .parameters(AdminPage.parameters + [.environment, .query("bundleId", "The app.")]),
            .post(path, "createChannel", "Creates a channel.", self.create)
                .body(.admin(AdminChannelRequest.object)),
            .delete("\(path)/{environment}/{bundle}/{channel}", "deleteChannel", "Deletes a channel.", self.delete),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let environment = try Self.environment(request.query["environment"])
        let app = try self.app(request.query["bundleId"])
        let ids = self.channels.channels(app: app, in: environment).drop { id in page.after.map { id <= $0 } ?? false }
        let channels = ids.prefix(page.fetch).map { self.channel($0, app, environment) }
        return try page.response("channels", channels) { $0.name.id }
    }

    /// Creates a channel, which by default stores nothing.
    private func create(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AdminChannelRequest.object)
        let environment = try Self.environment(try fields.value(AdminChannelRequest.environment)?.rawValue)
        let app = try self.app(try fields.required(AdminChannelRequest.bundleID).name)
        let number = try fields.value(AdminChannelRequest.policy) ?? 0
        let policy: ChannelPolicy = number == 1 ? .newest : .nothing
        guard let id = try await self.channels.create(policy, app: app, in: environment, now: self.time.now) else {
            throw RequestError.full("channels of this app", ChannelRegistry.capacity)
        }
        return try .json(self.channel(id, app, environment), status: .created)
    }

    /// Deletes a channel, with its subscriptions and its stored broadcast.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let environment = try Self.environment(request.path("environment"))
        let app = try self.app(request.path("bundle"))
        let id = request.path("channel")
        guard try await self.channels.delete(id, app: app, in: environment) else {
            throw RequestError.noSuch("channel")
        }
        for core in self.environments where core.environment == environment {
            core.router.channelDeleted(ChannelName(bundleID: app, id: id))
        }
        return .noContent
    }

    /// Creates the response value for a channel, with the storage policy that the registry has for it.
    private func channel(_ id: String, _ app: Topic, _ environment: PushEnvironment) -> RegisteredChannel {
        let policy = self.channels.policy(of: id, app: app, in: environment) ?? .nothing
        return RegisteredChannel(environment: environment, name: ChannelName(bundleID: app, id: id), policy: policy)
    }

    /// Returns the topic of the app with the bundle id `text`. Throws the error for an unknown app if there is none.
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

extension RegisteredChannel: ResponseObject {
    static let members: [ResponseMember<Self>] = [
        .required("channelId", \.name.id),
        .required("environment", \.environment),
        .required("bundleId", \.name.bundleID),
        .required("policy", \.policy.rawValue, "The storage policy: 0 for none, 1 for the newest broadcast."),
    ]
}
