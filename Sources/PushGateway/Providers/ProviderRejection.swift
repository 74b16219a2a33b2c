import Foundation
import PushTypes
import PushWire

/// Why a request of the provider API is refused.
struct ProviderRejection: Error {
    var reason: Reason
    /// Since when the token is gone, with 410.
    var timestamp: Timestamp?
    /// Whose token is gone, with 410.
    var token: (token: DeviceToken, device: UUID, topic: TopicHash)?

    /// Which rule of the gateway's own refuses it, for the log.
    var rule: String?
    /// The recipient of the push, with 429.
    var recipient: (device: UUID, topic: Topic)?

    init(_ reason: Reason) {
        self.reason = reason
    }

    init(tooManyFor device: UUID, topic: Topic, rule: String) {
        self.reason = .tooManyRequests
        self.rule = rule
        self.recipient = (device, topic)
    }

    init(unregistered token: DeviceToken, device: UUID, topic: TopicHash, since: Timestamp) {
        self.reason = .unregistered
        self.timestamp = since
        self.token = (token, device, topic)
    }
}
