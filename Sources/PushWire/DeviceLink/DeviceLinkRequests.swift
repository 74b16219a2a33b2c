/// Command 9, *Filter topics*, with the topics to which the device subscribes (device link reference 3).
package struct DeviceLinkFilter: Hashable, Sendable {
    /// The maximum number of topics in one filter. A packet with more is invalid.
    package static let maximumTopics = 512

    package var baseToken: [UInt8]?
    package var enabled: [TopicHash]
    package var ignored: [TopicHash]
    package var opportunistic: [TopicHash]
    package var paused: [TopicHash]
    package var nonWaking: [TopicHash]

    package init(
        baseToken: [UInt8]? = nil,
        enabled: [TopicHash],
        ignored: [TopicHash] = [],
        opportunistic: [TopicHash] = [],
        paused: [TopicHash] = [],
        nonWaking: [TopicHash] = []
    ) {
        (self.baseToken, self.enabled, self.ignored) = (baseToken, enabled, ignored)
        (self.opportunistic, self.paused, self.nonWaking) = (opportunistic, paused, nonWaking)
    }

    /// Parses the packet. Returns `nil` if it names more than ``maximumTopics`` topics.
    package init?(_ packet: DeviceLinkPacket) {
        guard packet.fields.count <= Self.maximumTopics + 1 else { return nil }
        self.init(
            baseToken: packet.bytes(1),
            enabled: packet.topicHashes(2),
            ignored: packet.topicHashes(3),
            opportunistic: packet.topicHashes(4),
            paused: packet.topicHashes(5),
            nonWaking: packet.topicHashes(6)
        )
    }

    package var packet: DeviceLinkPacket {
        let lists: [(UInt8, [TopicHash])] = [
            (2, self.enabled), (3, self.ignored), (4, self.opportunistic), (5, self.paused), (6, self.nonWaking),
        ]
        return DeviceLinkPacket(
            .filter,
            [.bytes(1, self.baseToken)] + lists.flatMap { id, hashes in hashes.map { .bytes(id, $0.bytes) } }
        )
    }
}

/// Command 17, *Scoped token*: the request for an app's device token (device link reference 3).
package struct DeviceLinkTokenRequest: Hashable, Sendable {
    package var baseToken: [UInt8]?
    package var topic: TopicHash

    package init(baseToken: [UInt8]?, topic: TopicHash) { (self.baseToken, self.topic) = (baseToken, topic) }

    /// Parses the packet. Returns `nil` if the topic hash is missing.
    package init?(_ packet: DeviceLinkPacket) {
        guard let topic = packet.topicHash(2) else { return nil }
        self.init(baseToken: packet.bytes(1), topic: topic)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(.scopedToken, [.bytes(1, self.baseToken ?? []), .bytes(2, self.topic.bytes)])
    }
}

/// Command 18, *Scoped token response*: the app's device token, or an error (device link reference 3).
package struct DeviceLinkTokenResponse: Hashable, Sendable {
    /// The status, which is 0 for success, and 2 if the push service knows no app with this topic.
    package var status: UInt8
    package var token: [UInt8]
    package var topic: TopicHash

    package init(status: UInt8, token: [UInt8], topic: TopicHash) {
        (self.status, self.token, self.topic) = (status, token, topic)
    }

    /// Parses the packet. Returns `nil` if the topic hash or the status is missing.
    package init?(_ packet: DeviceLinkPacket) {
        guard let status = packet.integer(1, as: UInt8.self), let topic = packet.topicHash(3) else { return nil }
        self.init(status: status, token: packet.bytes(2) ?? [], topic: topic)
    }

    package var packet: DeviceLinkPacket {
        DeviceLinkPacket(
            .scopedTokenResponse,
            [.integer(1, self.status), .bytes(2, self.token), .bytes(3, self.topic.bytes)]
        )
    }
}

/// Command 29, a request to follow or unfollow a broadcast channel (device link reference 6). Apple uses the command,
/// but Martlet defines its fields (docs/decisions/0010). Only a device that has sent field 128 in *Connect* uses it.
package struct DeviceLinkChannelRequest: Hashable, Sendable {
    /// The maximum length of a channel id, in bytes of its base64 text. A packet with a longer one is invalid.
    package static let maximumChannelLength = 128

    package var topic: TopicHash
    /// The channel id in base64, as in `apns-channel-id`.
    package var channel: String
    package var follows: Bool

    package init(topic: TopicHash, channel: String, follows: Bool) {
        (self.topic, self.channel, self.follows) = (topic, channel, follows)
    }

    /// Parses the packet. Returns `nil` if the topic hash or the channel is missing, or if the channel is too long.
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
        /// The status of a request that failed because the device already follows the maximum number of channels.
        case tooMany = 1
        /// The status of a request that failed because the channel does not exist.
        case unknownChannel = 2
    }

    package var status: Status
    package var topic: TopicHash
    package var channel: String

    package init(status: Status, topic: TopicHash, channel: String) {
        (self.status, self.topic, self.channel) = (status, topic, channel)
    }

    /// Parses the packet. Returns `nil` if the status, the topic hash or the channel is missing.
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
