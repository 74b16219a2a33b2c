import Foundation
import NIOCore
import PushTypes
import PushWire

/// A notification on its way to one device, from its acceptance until the device has it or it is dropped.
final class Message: Sendable {
    /// Rises with every accepted push of the gateway: tells a message from the one that replaced it.
    let sequence: Int64
    let device: UUID
    /// The app's device token; for a broadcast, the device's base token.
    let token: [UInt8]
    let notification: PushNotification
    let topicHash: TopicHash
    let acceptedAt: Timestamp
    /// `nil` when it must not be stored: then it lives only as long as its delivery.
    let expiresAt: Timestamp?
    /// The channel that it was broadcast on.
    let channel: ChannelName?

    init(
        sequence: Int64,
        device: UUID,
        token: [UInt8],
        notification: PushNotification,
        topicHash: TopicHash,
        acceptedAt: Timestamp,
        expiresAt: Timestamp?,
        channel: ChannelName? = nil
    ) {
        self.sequence = sequence
        self.device = device
        self.token = token
        self.notification = notification
        self.topicHash = topicHash
        self.acceptedAt = acceptedAt
        self.expiresAt = expiresAt
        self.channel = channel
    }

    /// Bytes that it counts against the bounds of what is on its way: its payload, and what goes with it.
    var cost: Int { self.notification.payload.readableBytes + Self.overhead }

    /// Token, ids and this object, in bytes.
    private static let overhead = 512

    func isExpired(at now: Timestamp) -> Bool { self.expiresAt.map { $0 <= now } ?? false }
}

/// A broadcast channel of one app.
struct ChannelName: Hashable, Sendable {
    var bundleID: Topic
    /// Base64, as in `apns-channel-id`.
    var id: String

    /// What a device's filter has to name to get the channel's broadcasts (reference 4.2: Live Activities).
    var topic: Topic { Topic(self.bundleID.name + PushType.liveactivity.topicSuffix) ?? self.bundleID }
}

extension Event {
    init(_ name: Name, _ message: Message, _ environment: PushEnvironment, time: Timestamp) {
        let notification = message.notification
        self.init(
            name,
            device: message.device,
            time: time,
            environment: environment,
            topic: notification.topic,
            apnsID: notification.id
        )
    }
}
