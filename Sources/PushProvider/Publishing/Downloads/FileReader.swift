package import NIOCore
import PushSupport

/// Reads a byte range of a file piece by piece, on a thread for blocking work.
package struct FileReader: Sendable {
    private let file: OpenFile
    /// The range of bytes that remain to be read.
    private(set) package var rest: Range<Int>

    /// Opens a file to read its bytes in `part`.
    /// - Throws: ``OpenFile/Failure``; ``TruncatedFileError`` if the length of the file is not `size`.
    package init(path: String, size: Int, part: Range<Int>) async throws {
        self.file = try await FileFolder.blocking {
            let file = try OpenFile(reading: path)
            guard try file.length() == size else { throw TruncatedFileError() }
            return file
        }
        self.rest = part
    }

    /// Returns the next bytes, at most `count`.
    /// - Throws: ``OpenFile/Failure`` if reading fails; ``TruncatedFileError`` if the file ends too early.
    package mutating func next(_ count: Int) async throws -> ByteBuffer {
        let (file, start, count) = (self.file, self.rest.lowerBound, min(count, self.rest.count))
        let buffer = try await FileFolder.blocking {
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            while buffer.readableBytes < count {
                let (offset, wanted) = (start + buffer.readableBytes, count - buffer.readableBytes)
                let read = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) {
                    try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<wanted]), at: offset)
                }
                guard read > 0 else { throw TruncatedFileError() }
            }
            return buffer
        }
        self.rest = (start + count)..<self.rest.upperBound
        return buffer
    }
}

/// The error for a file whose length differs from the length in its record.
package struct TruncatedFileError: Error, CustomStringConvertible {
    package var description: String { "its length is not that of its record" }
}
