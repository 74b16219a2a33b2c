import Crypto
import NIOCore
import PushStore
import PushSupport

/// The hash of the first bytes of a file, to which the next ones are added.
struct IncrementalHash: Sendable {
    /// The bytes that are read at a time.
    private static let piece = 256 * 1024

    /// The number of bytes.
    private(set) var count = 0
    private var digest = SHA256()

    init() {}

    /// Returns the hash with the next bytes of a file, up to the first `end` of all.
    ///
    /// It blocks.
    /// - Throws: ``OpenFile/Failure``.
    func adding(_ file: OpenFile, upTo end: Int) throws -> IncrementalHash {
        var next = self
        var buffer = ByteBufferAllocator().buffer(capacity: Self.piece)
        while next.count < end {
            buffer.clear()
            let (offset, wanted) = (next.count, min(Self.piece, end - next.count))
            let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: offset)
            }
            guard read > 0 else { throw UploadFailure.wrongOffset(0) }
            next = next.adding(buffer)
        }
        return next
    }

    /// Returns the hash with more bytes.
    func adding(_ buffer: ByteBuffer) -> IncrementalHash {
        var next = self
        buffer.withUnsafeReadableBytes { next.digest.update(bufferPointer: $0) }
        next.count += buffer.readableBytes
        return next
    }

    var value: ContentHash { ContentHash(self.digest.finalize()) }
}
