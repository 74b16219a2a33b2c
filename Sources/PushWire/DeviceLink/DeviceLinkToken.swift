/// Command 17, *Scoped token*: the device asks for an app's device token (device link reference 3).
package struct DeviceLinkTokenRequest: Hashable, Sendable {
    package var baseToken: [UInt8]?
    package var topic: TopicHash

    package init(baseToken: [UInt8]?, topic: TopicHash) {
        (self.baseToken, self.topic) = (baseToken, topic)
    }

    /// Returns `nil` without a topic hash.
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
    /// 0 means success; 2 means that the push service knows no app of this topic.
    package var status: UInt8
    package var token: [UInt8]
    package var topic: TopicHash

    package init(status: UInt8, token: [UInt8], topic: TopicHash) {
        (self.status, self.token, self.topic) = (status, token, topic)
    }

    /// Returns `nil` without topic hash or status.
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
