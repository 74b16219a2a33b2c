import Crypto

/// SHA-1 of a topic's text, 20 bytes: how the courier protocol names topics.
package struct TopicHash: Hashable, Sendable {
    package static let length = 20

    package let bytes: [UInt8]

    package init(_ topic: Topic) {
        self.bytes = Array(Insecure.SHA1.hash(data: Array(topic.name.utf8)))
    }

    /// `nil` unless there are exactly 20 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = Array(bytes)
    }
}
