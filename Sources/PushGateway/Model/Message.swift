import Foundation
import NIOCore
import PushTypes
import PushWire

/// A notification for one device, from its acceptance until the device has acknowledged it or it is discarded.
final class Message: Sendable {
    /// The sequence number of the message in the gateway. Later messages have higher numbers.
    let sequence: Int64
    let device: UUID
    /// The app's device token. For a broadcast, it is the base token, which identifies the device and not an app on it.
    let token: [UInt8]
    let notification: PushNotification
    let topicHash: TopicHash
    let acceptedAt: Timestamp
    /// The time until which the message may be stored, or `nil` if it must not be stored.
    let expiresAt: Timestamp?
    /// The channel of a broadcast, or `nil` for a push.
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
        (self.sequence, self.device, self.token) = (sequence, device, token)
        (self.notification, self.topicHash, self.channel) = (notification, topicHash, channel)
        (self.acceptedAt, self.expiresAt) = (acceptedAt, expiresAt)
    }

    convenience init(_ push: AcceptedPush, sequence: Int64, acceptedAt now: Timestamp) {
        self.init(
            sequence: sequence,
            device: push.device,
            token: push.token.bytes,
            notification: push.notification,
            topicHash: push.topicHash,
            acceptedAt: now,
            expiresAt: push.notification.expiration.storageEnd(acceptedAt: now)
        )
    }

    /// The number of bytes charged to the limits of unacknowledged messages: the length of the payload plus
    /// ``overhead``.
    var cost: Int { self.notification.payload.readableBytes + Self.overhead }

    /// The approximate size of the token, the ids and this object, in bytes.
    private static let overhead = 512

    func isExpired(at now: Timestamp) -> Bool { self.expiresAt.map { $0 <= now } ?? false }
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

/// A push that has passed every check.
struct AcceptedPush: Hashable, Sendable {
    var notification: PushNotification
    var token: DeviceToken
    var device: UUID
    var topicHash: TopicHash
}
