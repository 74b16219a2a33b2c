import Foundation
import NIOCore
import ProviderModel
import PushSupport
import PushTypes
import PushWire

/// Translates notifications of the binary protocol into requests of the provider (docs/bridges-legacy.md).
enum BinaryTranslation {
    /// The time to live of a notification without an expiration, in seconds: one day.
    static let defaultLifetime: Int64 = 86_400

    /// The rejection of a notification, with the status for the legacy provider.
    struct Rejection: Error, Hashable {
        let status: BinaryStatus
    }

    /// Returns the request for a notification, or a rejection if its token or payload is invalid.
    static func request(
        _ notification: BinaryNotification,
        from client: BinaryClient
    ) -> Result<NotificationRequest, Rejection> {
        guard let token = DeviceToken(bytes: notification.token) else {
            return .failure(Rejection(status: .invalidTokenSize))
        }
        let payload = Data(notification.payload.readableBytesView)
        // A device could not show a payload that is not a JSON object.
        guard case .object(let members)? = try? JSONValue(parsing: payload) else {
            return .failure(Rejection(status: .missingPayload))
        }
        let type = Self.pushType(members, topic: client.topic)
        let priority: Priority = type == .background ? .powerAware : notification.priority ?? .immediate
        var content = NotificationContent(
            topic: client.topic,
            pushType: type,
            tokenKind: type.tokenKind(),
            priority: priority == .powerAware ? .powerAware : .immediate,
            expiration: notification.pushExpiration,
            collapseID: nil,
            payload: payload
        )
        if notification.expiration == nil { content.expiresIn = Self.defaultLifetime }
        let audience = Audience.tokens([token])
        return .success(NotificationRequest(content: content, audience: audience, environment: client.environment))
    }

    /// Returns the push type that fits a payload. The binary protocol has no field for it.
    static func pushType(_ payload: [String: JSONValue], topic: Topic) -> PushType {
        if topic.name.hasSuffix(PushType.voip.topicSuffix) { return .voip }
        if topic.name.hasSuffix(PushType.complication.topicSuffix) { return .complication }
        if payload["mdm"] != nil, payload["aps"] == nil { return .mdm }
        // Apple recommends an empty payload for updates of passes.
        if payload.isEmpty, topic.name.hasPrefix("pass.") { return .background }
        guard case .object(let aps)? = payload["aps"], aps["content-available"] == .integer(1) else { return .alert }
        return aps.keys.contains { ["alert", "badge", "sound"].contains($0) } ? .alert : .background
    }
}
