import Foundation
import PushTypes
import PushWire

/// One notification for all devices that follow a channel (reference 4.2).
struct Broadcast: Sendable {
    var sequence: Int64
    var channel: ChannelName
    /// The notification. Its id is the `apns-request-id`.
    var notification: PushNotification
    var acceptedAt: Timestamp
    /// The end of its storage for devices that are offline; `nil` if it is not stored.
    var expiresAt: Timestamp?

    init(
        sequence: Int64,
        channel: ChannelName,
        notification: PushNotification,
        acceptedAt: Timestamp,
        expiresAt: Timestamp?
    ) {
        self.sequence = sequence
        self.channel = channel
        self.notification = notification
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
    }

    init(_ accepted: AcceptedBroadcast, sequence: Int64, at now: Timestamp) {
        self.sequence = sequence
        self.channel = ChannelName(bundleID: accepted.bundleID, id: accepted.channelID)
        self.notification = PushNotification(
            id: accepted.requestID,
            topic: self.channel.topic,
            pushType: .liveactivity,
            priority: accepted.priority,
            expiration: accepted.expiration,
            payload: accepted.payload
        )
        self.acceptedAt = now
        self.expiresAt = accepted.storageEnd(acceptedAt: now)
    }

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
