import Crypto
import NIOCore
import PushStore
import PushSupport

/// The hash of the first bytes of a file, to which the next ones are added.
struct PartHash: Sendable {
    /// The bytes that are read at a time.
    private static let piece = 256 * 1024

    /// The number of bytes.
    private(set) var count = 0
    private var digest = SHA256()

    init() {}

    /// Reads the first bytes of a file.
    ///
    /// It blocks.
    /// - Throws: ``OpenFile/Failure``.
    init(of file: OpenFile, count: Int) throws {
        var buffer = ByteBufferAllocator().buffer(capacity: Self.piece)
        while self.count < count {
            buffer.clear()
            let (offset, wanted) = (self.count, min(Self.piece, count - self.count))
            let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: offset)
            }
            guard read > 0 else { throw UploadFailure.wrongOffset(0) }
            self = self.adding(buffer)
        }
    }

    /// Returns the hash with more bytes.
    func adding(_ buffer: ByteBuffer) -> PartHash {
        var next = self
        buffer.withUnsafeReadableBytes { next.digest.update(bufferPointer: $0) }
        next.count += buffer.readableBytes
        return next
    }

    var value: ContentHash { ContentHash(self.digest.finalize()) }
}
