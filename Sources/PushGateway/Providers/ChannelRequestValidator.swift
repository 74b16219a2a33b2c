import Foundation
import PushTypes
import PushWire

/// Checks broadcasts and requests of channel management (reference 4.1, 4.3). The first failed check decides the
/// response.
struct ChannelRequestValidator: Sendable {
    /// The maximum length of a channel id, in bytes of its base64 text. A longer one is rejected.
    private static let maximumIDLength = 128
    private static let members: Set<String> = ["message-storage-policy", "push-type"]

    let shared: ProviderSession.Shared

    /// Checks a request. Returns the response if the request only reads, or the broadcast or change to perform. Throws
    /// the rejection of the first check that fails.
    func validate(
        _ request: ProviderRequest,
        path: ProviderPath,
        authentication: inout ConnectionAuthentication,
        requestID: String,
        now: Timestamp
    ) throws(ProviderRejection) -> ProviderSession.Decision {
        let (name, methods): (String, [String]) =
            switch path {
            case .broadcast(let app): (app, ["POST"])
            case .channels(let app): (app, ["POST", "GET", "DELETE"])
            case .allChannels(let app): (app, ["GET"])
            case .device, .missingDevice, .unknown: throw ProviderRejection(.badPath)
            }
        guard methods.contains(request.method) else { throw ProviderRejection(.methodNotAllowed) }
        let app = try self.app(name, request, authentication: &authentication, now: now)
        switch (path, request.method) {
        case (.broadcast, _):
            let broadcast = try self.broadcast(request, app, requestID)
            return .broadcast(broadcast, response: ProviderResponse(status: 200, requestID: requestID))
        case (.allChannels, _): return .respond(self.list(app, requestID))
        case (_, "GET"): return .respond(Self.description(of: try self.channel(request, app: app).policy, requestID))
        case (_, "DELETE"):
            return .manage(self.command(.delete(try self.channel(request, app: app).id), app, requestID))
        default: return .manage(self.command(.create(try Self.policy(request)), app, requestID))
        }
    }

    private func command(_ action: ChannelChange.Action, _ bundleID: Topic, _ requestID: String) -> ChannelChange {
        ChannelChange(action: action, bundleID: bundleID, environment: self.shared.environment, requestID: requestID)
    }

    private static func policy(_ request: ProviderRequest) throws(ProviderRejection) -> ChannelPolicy {
        let object = try Self.object(request)
        guard object.keys.allSatisfy(Self.members.contains) else { throw ProviderRejection(.badRequestParams) }
        let type = object["push-type"]
        guard type == nil || type is String else { throw ProviderRejection(.invalidPushType) }
        try Self.check(pushType: type as? String)
        let policy = (object["message-storage-policy"] as? Int).flatMap(ChannelPolicy.init(rawValue:))
        guard let policy else { throw ProviderRejection(.missingChannelQueueSize) }
        return policy
    }

    // MARK: Checks

    /// Returns the app of the path if the provider may broadcast to it. Otherwise throws the rejection.
    private func app(
        _ name: String,
        _ request: ProviderRequest,
        authentication: inout ConnectionAuthentication,
        now: Timestamp
    ) throws(ProviderRejection) -> Topic {
        guard let bundleID = Topic(name) else { throw ProviderRejection(.badPath) }
        guard !request.fields.hasDuplicate else { throw ProviderRejection(.duplicateHeaders) }
        let directory = self.shared.directory
        let reason = authentication.authenticate(
            request.fields.authorization,
            directory: directory,
            rules: self.shared.rules,
            now: now
        )
        if let reason { throw ProviderRejection(reason) }
        let app = directory.app(bundleID)
        guard app != nil || bundleID.bundleID == bundleID else { throw ProviderRejection(.topicDisallowed) }
        guard authentication.covers(bundleID, directory: directory) else { throw ProviderRejection(.topicMismatch) }
        // Only a certificate can cover an app that is not registered.
        guard app?.allowsBroadcast ?? self.shared.rules.allowsBroadcastByDefault else {
            throw ProviderRejection(.featureNotEnabled)
        }
        if let id = request.fields.requestID ?? request.fields.id, !RequestIDGenerator.isID(id) {
            throw ProviderRejection(.badMessageId)
        }
        return bundleID
    }

    private func channel(
        _ request: ProviderRequest,
        app bundleID: Topic
    ) throws(ProviderRejection) -> (id: String, policy: ChannelPolicy) {
        guard let id = request.fields.channelID, !id.isEmpty else { throw ProviderRejection(.missingChannelId) }
        guard id.utf8.count <= Self.maximumIDLength, Data(base64Encoded: id) != nil else {
            throw ProviderRejection(.badChannelId)
        }
        guard let policy = self.shared.channels.policy(of: id, app: bundleID, in: self.shared.environment) else {
            throw ProviderRejection(.channelNotRegistered)
        }
        return (id, policy)
    }

    /// Checks the push type. The only valid one is `liveactivity`, which Apple writes in three ways (reference 4.2).
    private static func check(pushType: String?) throws(ProviderRejection) {
        guard let pushType, !pushType.isEmpty else { throw ProviderRejection(.missingPushType) }
        guard pushType.lowercased() == PushType.liveactivity.rawValue else { throw ProviderRejection(.invalidPushType) }
    }

    /// Returns the body as a JSON object of at most 5,120 bytes (reference 3.6). Throws the rejection for any other
    /// body.
    private static func object(_ request: ProviderRequest) throws(ProviderRejection) -> [String: Any] {
        guard request.bodyLength > 0 else { throw ProviderRejection(.payloadEmpty) }
        guard request.bodyLength <= PushNotification.maximumBroadcastSize else {
            throw ProviderRejection(.payloadTooLarge)
        }
        guard let object = request.jsonObject else { throw ProviderRejection(.badRequestPayload) }
        return object
    }

    // MARK: Responses. Channel ids are base64 and need no escapes.

    private static func description(of policy: ChannelPolicy, _ requestID: String) -> ProviderResponse {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        return ProviderResponse(status: 200, requestID: requestID, body: body)
    }

    private func list(_ bundleID: Topic, _ requestID: String) -> ProviderResponse {
        let ids = self.shared.channels.channels(app: bundleID, in: self.shared.environment)
        let body = #"{"channels":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        return ProviderResponse(status: 200, requestID: requestID, body: body)
    }
}

extension ChannelRequestValidator {
    /// Checks a broadcast, `POST /4/broadcasts/apps/{bundle id}` (reference 4.2, 4.3).
    private func broadcast(
        _ request: ProviderRequest,
        _ bundleID: Topic,
        _ requestID: String
    ) throws(ProviderRejection) -> AcceptedBroadcast {
        let channel = try self.channel(request, app: bundleID)
        let expiration = try Self.expiration(request.fields.expiration, channel.policy)
        let priority = try Self.priority(request.fields.priority)
        try Self.check(pushType: request.fields.pushType)
        try self.checkPayload(request)
        let name = ChannelName(bundleID: bundleID, id: channel.id)
        let notification = PushNotification(
            id: requestID,
            topic: name.topic,
            pushType: .liveactivity,
            priority: priority,
            expiration: expiration,
            payload: request.body
        )
        return AcceptedBroadcast(channel: name, policy: channel.policy, notification: notification)
    }

    /// Returns the expiration in `text`. A channel that stores nothing allows only 0 (reference 4.2). The default
    /// depends on the policy (reference 11, row 9).
    private static func expiration(_ text: String?, _ policy: ChannelPolicy) throws(ProviderRejection) -> Expiration {
        guard let text else { return policy == .nothing ? .immediate : .servicePolicy }
        guard let expiration = Expiration(header: text), policy == .newest || expiration == .immediate else {
            throw ProviderRejection(.badExpirationDate)
        }
        return expiration
    }

    private static func priority(_ text: String?) throws(ProviderRejection) -> Priority {
        guard let text else { return .immediate }
        guard let priority = Priority(header: text) else { throw ProviderRejection(.badPriority) }
        return priority
    }

    /// Checks that the payload does not start an activity, which a broadcast cannot do (reference 3.4).
    private func checkPayload(_ request: ProviderRequest) throws(ProviderRejection) {
        let object = try Self.object(request)
        guard self.shared.rules.requiresJSONObject else { return }
        let event = (object["aps"] as? [String: Any])?["event"] as? String
        guard event == "update" || event == "end" else { throw ProviderRejection(.badRequestPayload) }
    }
}
