/// Command 29: the device wants to follow a broadcast channel, or no longer.
///
/// The command is Apple's, its fields are ours (docs/decisions/0010): only a device that announced field 128 in *Connect* sends it.
package struct DeviceLinkChannelRequest: Hashable, Sendable {
    /// Longest channel id, in bytes of base64 text.
    package static let maximumChannelLength = 128

    /// SHA-1 of the app's bundle id.
    package var topic: TopicHash
    /// Base64, as in `apns-channel-id`.
    package var channel: String
    package var follows: Bool

    package init(topic: TopicHash, channel: String, follows: Bool) {
        self.topic = topic
        self.channel = channel
        self.follows = follows
    }

    /// `nil` without topic hash or channel, or with a channel that is too long.
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

/// Command 32: the answer to command 29.
package struct DeviceLinkChannelResponse: Hashable, Sendable {
    package enum Status: UInt8, Hashable, Sendable {
        case ok = 0
        /// The device follows as many channels as it may.
        case tooMany = 1
        /// There is no such channel.
        case unknownChannel = 2
    }

    package var status: Status
    package var topic: TopicHash
    package var channel: String

    package init(status: Status, topic: TopicHash, channel: String) {
        self.status = status
        self.topic = topic
        self.channel = channel
    }

    /// `nil` without status, topic hash or channel.
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
