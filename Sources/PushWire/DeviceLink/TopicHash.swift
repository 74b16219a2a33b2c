import Crypto
package import NIOCore
package import PushTypes

/// The SHA-1 hash of a topic, 20 bytes, by which the device link identifies the topic (device link reference 3).
package struct TopicHash: Hashable, Sendable {
    /// The length of a topic hash, in bytes.
    package static let length = 20

    private let words: (UInt64, UInt64, UInt32)

    package init(_ topic: Topic) { self.words = Self.words(Insecure.SHA1.hash(data: Array(topic.name.utf8))) }

    /// Creates a hash from its bytes. Returns `nil` unless there are exactly 20.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        self.words = Self.words(bytes)
    }

    package var bytes: [UInt8] {
        var buffer = ByteBuffer()
        self.write(to: &buffer)
        return Array(buffer.readableBytesView)
    }

    package func write(to buffer: inout ByteBuffer) {
        buffer.writeMultipleIntegers(self.words.0, self.words.1, self.words.2)
    }

    package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.words.0) }

    private static func words(_ bytes: some Sequence<UInt8>) -> (UInt64, UInt64, UInt32) {
        bytes.withContiguousStorageIfAvailable(Self.read) ?? Array(bytes).withUnsafeBufferPointer(Self.read)
    }

    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt32) {
        let raw = UnsafeRawBufferPointer(bytes)
        return (
            UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
        )
    }
}
