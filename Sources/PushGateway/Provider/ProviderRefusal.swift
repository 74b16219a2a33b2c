import Foundation
import PushProtocol

/// Why a request of the provider API is refused.
struct ProviderRefusal: Error {
    var reason: Reason
    /// Since when the token is gone, with 410.
    var timestamp: Timestamp?
    /// Whose token is gone, with 410.
    var token: (token: DeviceToken, device: UUID, topic: TopicHash)?

    init(_ reason: Reason) {
        self.reason = reason
    }

    init(unregistered token: DeviceToken, device: UUID, topic: TopicHash, since: Timestamp) {
        self.reason = .unregistered
        self.timestamp = since
        self.token = (token, device, topic)
    }
}
