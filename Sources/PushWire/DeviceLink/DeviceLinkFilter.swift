/// Command 9: which topics the device wants, and how.
package struct DeviceLinkFilter: Hashable, Sendable {
    /// Most topics a device may name in one filter.
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
        self.baseToken = baseToken
        self.enabled = enabled
        self.ignored = ignored
        self.opportunistic = opportunistic
        self.paused = paused
        self.nonWaking = nonWaking
    }

    /// `nil` if more than ``maximumTopics`` are named.
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
