import Foundation

// The system calls whose names are also those of methods here.
private let systemTruncate = ftruncate(_:_:)

/// An open file that is read and written at given offsets. The file is closed when the object is deallocated.
///
/// The methods block, so they must run on a thread pool.
package final class OpenFile: Sendable {
    /// An error that the operating system has reported.
    package struct Failure: Error, Hashable, CustomStringConvertible {
        /// The error number (`errno`), such as `ENOSPC`.
        package let number: CInt

        package var description: String { String(cString: strerror(self.number)) }
        /// A Boolean value that indicates whether the disk or a quota is full, or the file would become too large.
        package var isFull: Bool { [ENOSPC, EDQUOT, EFBIG].contains(self.number) }

        /// The error of the last system call on this thread.
        package static var last: Failure { Failure(number: errno) }
    }

    private let descriptor: CInt

    /// Opens an existing file.
    /// - Throws: ``Failure`` if the file cannot be opened.
    package init(reading path: String) throws(Failure) {
        self.descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else { throw .last }
    }

    /// Opens a file for reading and writing. A file that does not exist is created, readable only by its owner.
    /// - Throws: ``Failure`` if the file cannot be opened or created.
    package init(writing path: String) throws(Failure) {
        self.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw .last }
    }

    deinit { close(self.descriptor) }

    /// Reads at most as many bytes as fit into the buffer.
    /// - Returns: The number of bytes, or 0 at the end of the file.
    /// - Throws: ``Failure`` if the file cannot be read.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) -> Int {
        while true {
            let count = pread(self.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    /// Writes all bytes.
    /// - Throws: ``Failure``, after which some of the bytes may have been written.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(self.descriptor, rest.baseAddress, rest.count, off_t(offset + written))
            guard count > 0 || errno == EINTR else { throw .last }
            written += max(0, count)
        }
    }

    /// Shortens the file to a length, or extends it with zeros.
    /// - Throws: ``Failure`` if the length cannot be changed.
    package func truncate(to length: Int) throws(Failure) {
        guard systemTruncate(self.descriptor, off_t(length)) == 0 else { throw .last }
    }

    /// Writes the cached contents of the file to disk.
    /// - Throws: ``Failure`` if the contents may not be on disk.
    package func sync() throws(Failure) {
        guard fsync(self.descriptor) == 0 else { throw .last }
    }

    /// Returns the length of the file in bytes.
    /// - Throws: ``Failure`` if the length cannot be determined.
    package func length() throws(Failure) -> Int {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw .last }
        return Int(status.st_size)
    }
}

/// The limit on the number of open files and sockets that the operating system sets for this process.
package struct OpenFileLimit: Hashable, Sendable {
    /// The soft limit, which is in effect.
    package let now: Int
    /// The highest value to which this process may raise ``now``.
    package let highest: Int

    /// The current limit, or `nil` if it cannot be read.
    package static var present: OpenFileLimit? {
        guard let limits = Self.limits else { return nil }
        return OpenFileLimit(now: Int(clamping: limits.rlim_cur), highest: Int(clamping: Self.highest(limits)))
    }

    /// Raises the limit to the highest value.
    ///
    /// Most systems start with 1,024 because of programs that wait with `select`, which this program does not use.
    /// - Returns: The new limit, or `nil` if it cannot be read.
    @discardableResult
    package static func raise() -> Int? {
        if var limits = Self.limits, limits.rlim_cur < Self.highest(limits) {
            limits.rlim_cur = Self.highest(limits)
            // The limit stays if the system does not allow it.
            _ = setrlimit(Self.resource, &limits)
        }
        return self.present?.now
    }

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(Self.resource, &limits) == 0 ? limits : nil
    }

    #if canImport(Darwin)
    static let resource = RLIMIT_NOFILE

    /// Returns the maximum value of the soft limit, which `OPEN_MAX` bounds regardless of the hard limit.
    static func highest(_ limits: rlimit) -> rlim_t { max(limits.rlim_cur, min(limits.rlim_max, rlim_t(OPEN_MAX))) }
    #else
    #if canImport(Musl)
    static let resource = RLIMIT_NOFILE
    #else
    static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif

    static func highest(_ limits: rlimit) -> rlim_t { limits.rlim_max }
    #endif
}
