import Foundation
import PushTypes
import PushWire

/// One notification for all devices that follow a channel (reference 4.2).
struct ChannelBroadcast: Sendable {
    var sequence: Int64
    var channel: ChannelName
    /// The notification. Its id is the `apns-request-id`.
    var notification: PushNotification
    var acceptedAt: Timestamp
    /// The end of its storage for devices that are offline; `nil` if it is not stored.
    var expiresAt: Timestamp?

    /// Returns the message that delivers the broadcast to one device.
    func message(for device: UUID) -> Message {
        Message(
            sequence: self.sequence,
            device: device,
            token: [],
            notification: self.notification,
            topicHash: TopicHash(self.channel.topic),
            acceptedAt: self.acceptedAt,
            expiresAt: self.expiresAt,
            channel: self.channel
        )
    }
}

extension ChannelBroadcast {
    init(_ accepted: AcceptedBroadcast, sequence: Int64, at now: Timestamp) {
        self.init(
            sequence: sequence,
            channel: accepted.channel,
            notification: accepted.notification,
            acceptedAt: now,
            expiresAt: accepted.storageEnd(acceptedAt: now)
        )
    }
}
