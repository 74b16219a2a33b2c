#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

// The system calls whose names are also those of methods here.
private let systemTruncate = ftruncate(_:_:)

/// An open file, read and written at positions. It is closed when nothing refers to it any more.
///
/// Its methods block: they are for a thread pool.
package final class OpenFile: Sendable {
    /// A failure of the operating system.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        /// The number of the error, such as `ENOSPC`.
        package let number: CInt

        package var description: String { String(cString: strerror(self.number)) }
        /// `true` if the disk, or what the process may use of it, is full.
        package var isFull: Bool { [ENOSPC, EDQUOT, EFBIG].contains(self.number) }

        /// The failure of the last call.
        package static var last: Failure { Failure(number: errno) }
    }

    private let descriptor: CInt

    /// Opens an existing file.
    /// - Throws: ``Failure``.
    package init(reading path: String) throws(Failure) {
        self.descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw .last }
    }

    /// Opens a file that only its owner can read, and makes it if there is none.
    /// - Throws: ``Failure``.
    package init(writing path: String) throws(Failure) {
        self.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw .last }
    }

    deinit { close(self.descriptor) }

    /// Reads at most as many bytes as the buffer has.
    /// - Returns: The number of bytes, 0 at the end of the file.
    /// - Throws: ``Failure``.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) -> Int {
        while true {
            let count = pread(self.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Writes all bytes.
    /// - Throws: ``Failure``. Some bytes may have been written then.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(self.descriptor, rest.baseAddress, rest.count, off_t(offset + written))
            guard count > 0 || errno == EINTR else { throw .last }
            written += max(0, count)
        }
    }

    /// Cuts the file to a length, or extends it with zeros.
    /// - Throws: ``Failure``.
    package func truncate(to length: Int) throws(Failure) {
        guard systemTruncate(self.descriptor, off_t(length)) == 0 else { throw .last }
    }

    /// Returns when the content is on disk.
    /// - Throws: ``Failure``.
    package func sync() throws(Failure) {
        guard fsync(self.descriptor) == 0 else { throw .last }
    }

    /// Returns the length of the file in bytes.
    /// - Throws: ``Failure``.
    package func length() throws(Failure) -> Int {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw .last }
        return Int(status.st_size)
    }
}
