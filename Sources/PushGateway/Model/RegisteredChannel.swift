import Foundation
import PushTypes
import PushWire

struct ChannelName: Hashable, Sendable {
    var bundleID: Topic
    /// The channel id in base64, as in `apns-channel-id`.
    var id: String

    /// The topic of the channel's broadcasts (reference 4.2: Live Activities).
    var topic: Topic { Topic(self.bundleID.name + PushType.liveactivity.topicSuffix) ?? self.bundleID }
}

/// The policy that decides which of a channel's broadcasts are stored for followers that are offline (reference 4.1).
enum ChannelPolicy: Int, Hashable, Sendable {
    case nothing = 0
    /// The policy by which only the most recent broadcast is stored, for at most 8 hours.
    case newest = 1
}

/// A broadcast channel of an app, with its storage policy.
struct RegisteredChannel: Hashable, Sendable {
    var environment: PushEnvironment
    var name: ChannelName
    var policy: ChannelPolicy
}

/// A broadcast that has passed every check (reference 4.2).
struct AcceptedBroadcast: Hashable, Sendable {
    /// The maximum time for which a broadcast is stored: 8 hours (reference 4.1).
    static let longestStorage: Duration = .seconds(8 * 3600)

    var channel: ChannelName
    var policy: ChannelPolicy
    var notification: PushNotification

    /// Returns the time until which a broadcast that was accepted at `now` is stored, or `nil` if its expiration does
    /// not allow storage.
    func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        guard self.policy == .newest, let end = self.notification.expiration.storageEnd(acceptedAt: now)
        else { return nil }
        return min(end, now.advanced(by: Self.longestStorage))
    }
}

/// One notification for all devices that follow a channel (reference 4.2).
struct SequencedBroadcast: Sendable {
    var sequence: Int64
    var channel: ChannelName
    var notification: PushNotification
    var acceptedAt: Timestamp
    /// The time until which the broadcast is stored for devices that are offline, or `nil` if it is not stored.
    var expiresAt: Timestamp?

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

extension SequencedBroadcast {
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
