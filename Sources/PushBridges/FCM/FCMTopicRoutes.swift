import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The routes for topic subscriptions: the batches of the Instance ID service, and FCM's newer resources for single
/// subscriptions.
///
/// The routes change devices, so API keys need the scope `register`.
struct FCMTopicRoutes: Sendable {
    let access: FCMAccess
    let sender: FCMSender
    let store: any DeviceStore & NamedTokenStore
    let registrar: DeviceRegistrar
    let time: any TimeSource

    func addRoutes(to router: Router<APIContext>) {
        for prefix in ["", FCMRoutes.secretPrefix] {
            router.post(RouterPath("\(prefix)iid/v1:batchAdd")) { await self.batch(isSet: true, $0, $1) }
            router.post(RouterPath("\(prefix)iid/v1:batchRemove")) { await self.batch(isSet: false, $0, $1) }
            router.post(RouterPath("\(prefix)iid/v1:batchImport"), use: self.importBatch)
            let all = "\(prefix)v1/projects/:project/registrations/:registration/topicSubscriptions"
            router.post(RouterPath(all), use: self.subscribe)
            router.get(RouterPath(all), use: self.list)
            router.get(RouterPath("\(all)/:topic"), use: self.show)
            router.delete(RouterPath("\(all)/:topic"), use: self.unsubscribe)
        }
    }

    // MARK: Batches

    private func batch(isSet: Bool, _ request: Request, _ context: APIContext) async -> Response {
        await self.respondToBatch(request, context) { reached, body in
            let project = try await self.project(reached)
            let batch = try TopicBatch(body)
            let tokens = batch.tokens.compactMap(\.token)
            let changes = try await self.store.setTag(
                FCMTopic.tag(batch.topic),
                isSet: isSet,
                of: tokens,
                app: project.app.id
            )
            let results = Dictionary(zip(tokens, changes.map(TopicResult.init))) { first, _ in first }
            let all = batch.tokens.map { named in named.token.flatMap { results[$0] } ?? .invalid }
            return try .json(["results": JSONValue.array(all.map(\.json))])
        }
    }

    /// Responds to `batchImport`: registers device tokens. Registration tokens are the device tokens in hexadecimal.
    @Sendable private func importBatch(_ request: Request, _ context: APIContext) async -> Response {
        await self.respondToBatch(request, context) { reached, body in
            let batch = try ImportBatch(body)
            let project = try await self.project(reached, bundleID: batch.application)
            guard project.app.bundleID == batch.application else {
                throw FCMError.permissionDenied("The project is for another app.")
            }
            let named = batch.texts.map(InstanceIDToken.init)
            let registrations = named.compactMap(\.token)
                .map { DeviceRegistration(environment: batch.environment, token: $0) }
            _ = try await self.registrar.register(registrations, app: project.app.id, at: self.time.reading)
            let results = zip(batch.texts, named).map { text, named in
                JSONValue.members([
                    "apns_token": .string(text), "status": .string(named.token == nil ? "INVALID_ARGUMENT" : "OK"),
                    "registration_token": named.token.map { .string($0.hex) },
                ])
            }
            return try .json(["results": JSONValue.array(results)])
        }
    }

    /// The credential of a batch request: the secret of a project in the path, or an API key.
    private enum Reached {
        case project(FCMSender.Project)
        case key(BridgeAuthenticator.Admission)

        var admission: BridgeAuthenticator.Admission {
            switch self {
            case .project(let project): project.admission
            case .key(let admission): admission
            }
        }
    }

    private func reached(_ request: Request, _ context: APIContext) async throws -> Reached {
        guard context.parameters.get("secret") == nil else {
            return .project(try await self.access.project(bySecretIn: context))
        }
        return .key(.key(try await self.access.access.key(of: request, context)))
    }

    private func project(_ reached: Reached, bundleID: Topic? = nil) async throws -> FCMSender.Project {
        switch reached {
        case .project(let project): return project
        case .key(let admission):
            return try await self.access.onlyProject(admission, bundleID: bundleID, scope: .register)
        }
    }

    /// Authenticates a batch request and responds to its body. An error is a string, as in the Instance ID service.
    private func respondToBatch(
        _ request: Request,
        _ context: APIContext,
        _ respond: (Reached, Data) async throws -> Response
    ) async -> Response {
        await self.access.respond("fcm.topics", context) { error in
            FCMAccess.response(error, body: .object(["error": .string("\(error.name): \(error.message)")]))
        } _: {
            let reached = try await self.reached(request, context)
            let (access, maximum) = (self.access.access, TopicBatch.maximumBody)
            return try await access.withBody(of: request, maximum: maximum, reached.admission) { body in
                try await respond(reached, body)
            }
        }
    }

    // MARK: Single subscriptions

    @Sendable private func subscribe(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.topics", context) {
            let project = try await self.access.project(request, context, scope: .register)
            let query = request.uri.queryParameters
            guard let text = query["topic_name"] ?? query["topicName"], let topic = FCMTopic.name(String(text)) else {
                throw FCMError.invalid("topic_name", "name a topic in the query")
            }
            switch try await self.set(topic, isSet: true, project, context) {
            case .changed:
                var members = self.subscription(topic, project, context)
                members["create_time"] = .string(self.time.now.rfc3339)
                return try .json(members)
            case .unchanged: throw FCMError(409, "ALREADY_EXISTS", "The token is subscribed to the topic.")
            case .noDevice: throw FCMError.unregistered
            case .excess: throw FCMError(429, "RESOURCE_EXHAUSTED", "The token is subscribed to too many topics.")
            }
        }
    }

    @Sendable private func unsubscribe(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.topics", context) {
            let project = try await self.access.project(request, context, scope: .register)
            let query = request.uri.queryParameters
            let allowsMissing = (query["allow_missing"] ?? query["allowMissing"]) == "true"
            switch try await self.set(try Self.topic(context), isSet: false, project, context) {
            case .changed: return try .json([String: JSONValue]())
            case .unchanged, .excess:
                guard allowsMissing else { throw Self.notSubscribed }
                return try .json([String: JSONValue]())
            case .noDevice: throw FCMError.unregistered
            }
        }
    }

    @Sendable private func show(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.topics", context) {
            let project = try await self.access.project(request, context, scope: .register)
            let topic = try Self.topic(context)
            guard try await self.topics(project, context).contains(topic) else { throw Self.notSubscribed }
            return try .json(self.subscription(topic, project, context))
        }
    }

    @Sendable private func list(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.topics", context) {
            let project = try await self.access.project(request, context, scope: .register)
            let all = try await self.topics(project, context).sorted().map { topic in
                JSONValue.object(self.subscription(topic, project, context))
            }
            return try .json(["topic_subscriptions": JSONValue.array(all)])
        }
    }

    private static let notSubscribed = FCMError.notFound("The token is not subscribed to the topic.")

    private static func topic(_ context: APIContext) throws -> String {
        guard let topic = FCMTopic.name(context.path("topic")) else {
            throw FCMError.invalid("name", "that is no name of a topic")
        }
        return topic
    }

    /// Returns the active devices that the request's path names, by a token or an installation.
    private func devices(_ project: FCMSender.Project, _ context: APIContext) async throws -> [DeviceRecord] {
        let text = context.path("registration")
        guard let token = InstanceIDToken(text).token else { return try await self.sender.devices(of: text, project) }
        return try await self.store.devices(app: project.app.id, token: token).filter(\.isActive)
    }

    /// Subscribes the devices that the request's path names to a topic, or unsubscribes them if `isSet` is `false`.
    /// Returns `noDevice` if the path names no active device.
    private func set(
        _ topic: String,
        isSet: Bool,
        _ project: FCMSender.Project,
        _ context: APIContext
    ) async throws -> TagChangeResult {
        // The other devices of an installation follow the first.
        guard let token = try await self.devices(project, context).first?.token else { return .noDevice }
        let tag = FCMTopic.tag(topic)
        return try await self.store.setTag(tag, isSet: isSet, of: [token], app: project.app.id).first ?? .noDevice
    }

    private func topics(_ project: FCMSender.Project, _ context: APIContext) async throws -> Set<String> {
        guard let device = try await self.devices(project, context).first else { throw FCMError.unregistered }
        return Set(device.profile.tags.compactMap { FCMTopic.name(ofTag: $0.text) })
    }

    private func subscription(
        _ topic: String,
        _ project: FCMSender.Project,
        _ context: APIContext
    ) -> [String: JSONValue] {
        let registration = context.path("registration")
        let name = "projects/\(project.bridge.name)/registrations/\(registration)/topicSubscriptions/\(topic)"
        return ["name": .string(name), "topic_name": .string(topic)]
    }
}

extension TopicResult {
    fileprivate init(_ change: TagChangeResult) {
        switch change {
        case .changed, .unchanged: self = .done
        case .noDevice: self = .notFound
        case .excess: self = .tooMany
        }
    }
}
