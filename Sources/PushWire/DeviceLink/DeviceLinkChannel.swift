/// Command 29: the device asks to follow a broadcast channel, or to unfollow it (device link reference 6).
///
/// The command is Apple's, its fields are Martlet's (docs/decisions/0010). Only a device that sent field 128 in
/// *Connect* uses it.
package struct DeviceLinkChannelRequest: Hashable, Sendable {
    /// The length of the longest channel id, in bytes of base64 text.
    package static let maximumChannelLength = 128

    /// The hash of the app's bundle id.
    package var topic: TopicHash
    /// The channel id in base64, as in `apns-channel-id`.
    package var channel: String
    package var follows: Bool

    package init(topic: TopicHash, channel: String, follows: Bool) {
        (self.topic, self.channel, self.follows) = (topic, channel, follows)
    }

    /// Returns `nil` without topic hash or channel, or if the channel is longer than ``maximumChannelLength``.
    package init?(_ packet: DeviceLinkPacket) {
        guard let topic = packet.topicHash(2), let channel = packet.text(3),
            !channel.isEmpty, channel.utf8.count <= Self.maximumChannelLength
        else { return nil }
        self.init(topic: topic, channel: channel, follows: packet.integer(4, as: UInt8.self) != 0)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .channel,
            [.bytes(2, self.topic.bytes), .text(3, self.channel), .integer(4, UInt8(self.follows ? 1 : 0))]
        )
    }
}

/// Command 32: the response to command 29 (device link reference 6).
package struct DeviceLinkChannelResponse: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case ok = 0
        /// The device follows as many channels as it may.
        case tooMany = 1
        /// The channel does not exist.
        case unknownChannel = 2
    }

    package var status: Status
    package var topic: TopicHash
    package var channel: String

    package init(status: Status, topic: TopicHash, channel: String) {
        (self.status, self.topic, self.channel) = (status, topic, channel)
    }

    /// Returns `nil` without status, topic hash or channel.
    package init?(_ packet: DeviceLinkPacket) {
        guard let status = packet.integer(1, as: UInt8.self).flatMap(Status.init(rawValue:)),
            let topic = packet.topicHash(2), let channel = packet.text(3)
        else { return nil }
        self.init(status: status, topic: topic, channel: channel)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .channelResponse,
            [.integer(1, self.status.rawValue), .bytes(2, self.topic.bytes), .text(3, self.channel)]
        )
    }
}
