import Crypto
package import PushTypes

/// SHA-1 of a topic's text, 20 bytes: how the courier protocol names topics.
package struct TopicHash: Hashable, Sendable {
    package static let length = 20

    private let words: (UInt64, UInt64, UInt32)

    package init(_ topic: Topic) {
        self.words = Self.words(Insecure.SHA1.hash(data: Array(topic.name.utf8)))
    }

    /// `nil` unless there are exactly 20 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.words = Self.words(bytes)
    }

    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.length) { buffer, count in
            for index in 0..<8 {
                let shift = UInt64(56 - 8 * index)
                buffer[index] = UInt8(truncatingIfNeeded: self.words.0 >> shift)
                buffer[8 + index] = UInt8(truncatingIfNeeded: self.words.1 >> shift)
            }
            for index in 0..<4 {
                buffer[16 + index] = UInt8(truncatingIfNeeded: self.words.2 >> UInt32(24 - 8 * index))
            }
            count = Self.length
        }
    }

    package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.words.0) }

    private static func words(_ bytes: some Sequence<UInt8>) -> (UInt64, UInt64, UInt32) {
        bytes.withContiguousStorageIfAvailable(Self.read) ?? Array(bytes).withUnsafeBufferPointer(Self.read)
    }

    /// Of exactly 20 bytes.
    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt32) {
        let raw = UnsafeRawBufferPointer(bytes)
        return (
            UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        )
    }
}
