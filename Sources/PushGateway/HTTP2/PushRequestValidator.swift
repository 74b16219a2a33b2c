import Foundation
import NIOCore
import PushProtocol

/// A push that passed every check, on its way to one device.
struct AcceptedPush: Hashable, Sendable {
    var notification: PushNotification
    var token: DeviceToken
    var device: UUID
    var topicHash: TopicHash
}

/// What the gateway knows, as far as the checks of a push ask for it.
protocol PushDirectory {
    func key(_ keyID: String) -> RegisteredKey?
    /// The team that owns the app with this bundle id.
    func team(ofApp bundleID: Topic) -> String?
    func status(of token: DeviceToken) -> TokenStatus
}

/// What became of a device token.
enum TokenStatus: Hashable, Sendable {
    case active(device: UUID, topic: TopicHash)
    /// Not minted here, of the other environment, or of a device never seen.
    case unknown
    /// Once good; when that ended.
    case gone(device: UUID, topic: TopicHash, since: Timestamp)
}

/// Checks a push request in the order of reference 1.12. The first fault found is the answer.
struct PushRequestValidator {
    struct Refusal: Error {
        var reason: Reason
        var timestamp: Timestamp?
        /// Whose token is gone, with 410.
        var token: (token: DeviceToken, device: UUID, topic: TopicHash)?
    }

    private static let pathPrefix = "/3/device/"

    let directory: any PushDirectory
    let now: Timestamp

    /// - Parameter apnsID: used where the request names none.
    func validate(
        _ request: ProviderRequest,
        connection: inout ProviderConnection,
        apnsID: String
    ) throws(Refusal) -> AcceptedPush {
        let tokenText = try self.tokenText(request)
        let team: String
        switch connection.authenticate(request.fields.authorization, key: self.directory.key, now: self.now) {
        case .success(let proven): team = proven
        case .failure(let reason): throw Refusal(reason: reason)
        }
        let topic = try self.topic(request, team: team)
        var notification = try self.notification(request, topic: topic, apnsID: apnsID)
        let (token, device) = try self.token(tokenText, topic: topic)
        notification.payload = try self.payload(request, type: notification.pushType)
        return AcceptedPush(
            notification: notification,
            token: token,
            device: device,
            topicHash: TopicHash(topic)
        )
    }

    /// The `apns-id` that an answer must carry, whatever else is wrong: the request's own, if it is a UUID.
    static func apnsID(of request: ProviderRequest) -> String? {
        request.fields.id.flatMap { Self.isUUID($0) ? $0 : nil }
    }

    private func tokenText(_ request: ProviderRequest) throws(Refusal) -> String {
        guard request.method == "POST" else { throw Refusal(reason: .methodNotAllowed) }
        guard request.path.hasPrefix(Self.pathPrefix) else { throw Refusal(reason: .badPath) }
        let token = String(request.path.dropFirst(Self.pathPrefix.count))
        guard !token.isEmpty else { throw Refusal(reason: .missingDeviceToken) }
        guard !request.fields.hasDuplicate else { throw Refusal(reason: .duplicateHeaders) }
        return token
    }

    private func topic(_ request: ProviderRequest, team: String) throws(Refusal) -> Topic {
        guard let text = request.fields.topic, !text.isEmpty else { throw Refusal(reason: .missingTopic) }
        guard let topic = Topic(text) else { throw Refusal(reason: .badTopic) }
        let owner = self.directory.team(ofApp: topic) ?? self.directory.team(ofApp: topic.bundleID)
        guard owner == team else { throw Refusal(reason: .topicDisallowed) }
        return topic
    }

    private func notification(
        _ request: ProviderRequest,
        topic: Topic,
        apnsID: String
    ) throws(Refusal) -> PushNotification {
        if let id = request.fields.id, !Self.isUUID(id) { throw Refusal(reason: .badMessageId) }
        var notification = PushNotification(id: apnsID, topic: topic, pushType: nil, payload: ByteBuffer())
        if let text = request.fields.expiration {
            guard let expiration = Expiration(header: text) else { throw Refusal(reason: .badExpirationDate) }
            notification.expiration = expiration
        }
        if let text = request.fields.priority {
            guard let priority = Priority.allCases.first(where: { "\($0.rawValue)" == text }) else {
                throw Refusal(reason: .badPriority)
            }
            notification.priority = priority
        }
        if let text = request.fields.pushType {
            guard let type = PushType(rawValue: text) else { throw Refusal(reason: .invalidPushType) }
            notification.pushType = type
            // Lenient (reference 7.5): a background push is never immediate.
            if type == .background, notification.priority == .immediate { notification.priority = .powerAware }
        }
        if let collapseID = request.fields.collapseID {
            guard collapseID.utf8.count <= PushNotification.maximumCollapseIDLength else {
                throw Refusal(reason: .badCollapseId)
            }
            notification.collapseID = collapseID
        }
        return notification
    }

    private func token(_ text: String, topic: Topic) throws(Refusal) -> (DeviceToken, UUID) {
        guard let token = DeviceToken(hex: text) else { throw Refusal(reason: .badDeviceToken) }
        switch self.directory.status(of: token) {
        case .unknown:
            throw Refusal(reason: .badDeviceToken)
        case .gone(let device, let hash, let since):
            throw Refusal(reason: .unregistered, timestamp: since, token: (token, device, hash))
        case .active(let device, let hash):
            guard hash == TopicHash(topic) else { throw Refusal(reason: .deviceTokenNotForTopic) }
            return (token, device)
        }
    }

    private func payload(_ request: ProviderRequest, type: PushType?) throws(Refusal) -> ByteBuffer {
        guard request.bodyLength > 0 else { throw Refusal(reason: .payloadEmpty) }
        guard request.bodyLength <= (type ?? .alert).maximumPayloadSize else { throw Refusal(reason: .payloadTooLarge) }
        return request.body
    }

    /// Canonical form 8-4-4-4-12 in either letter case.
    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36 && UUID(uuidString: text) != nil
    }
}
