/// Command 9, *Filter topics*: the topics that the device wants, by mode (device link reference 3).
package struct DeviceLinkFilter: Hashable, Sendable {
    /// The number of topics that one filter may name.
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

    /// Returns `nil` if the packet names more than ``maximumTopics``.
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
