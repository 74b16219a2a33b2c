import Foundation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Files that are whole or not there at all, even after a power failure.
package enum DurableFile {
    /// What the system said of the last call that failed.
    package static var lastError: String { String(cString: strerror(errno)) }

    /// Makes a file that only its owner can read. Whether it could; `false` too if there is one already, which stays.
    package static func create(_ path: String, _ content: [UInt8]) -> Bool {
        Self.make(content, beside: path) { Self.place($0, at: path) }
    }

    /// Makes a file that only its owner can read, in the place of the one of that name if there is one. Whether it could.
    package static func replace(_ path: String, _ content: [UInt8]) -> Bool {
        Self.make(content, beside: path) { Self.rename($0, to: path) }
    }

    /// Writes a file of another name, to disk, and gives it to `place`; what it leaves of that name is removed.
    private static func make(_ content: [UInt8], beside path: String, place: (String) -> Bool) -> Bool {
        let temporary = "\(path).\(UUID().uuidString)"
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let isWritten = content.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == content.count
        let isSynced = isWritten && fsync(descriptor) == 0
        close(descriptor)
        let isThere = isSynced && place(temporary)
        let reason = errno
        unlink(temporary)
        errno = reason
        return isThere
    }

    /// Gives a file its name, unless that is taken, and keeps it under that name.
    package static func place(_ temporary: String, at path: String) -> Bool {
        // Unlike rename, link never takes the place of a file that somebody else has made meanwhile.
        guard link(temporary, path) == 0 else { return false }
        unlink(temporary)
        return Self.sync(URL(filePath: path).deletingLastPathComponent().path)
    }

    /// Makes a folder that only its owner can enter, with those above it; one that is there already is closed to others.
    ///
    /// A folder that all may write to, as `/tmp`, and one of another owner stay as they are. Whether there is a folder.
    package static func makePrivateFolder(_ path: String) -> Bool {
        try? FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return false }
        let isShared = status.st_mode & S_ISVTX != 0 || status.st_uid != geteuid()
        if !isShared, status.st_mode & 0o077 != 0 { chmod(path, status.st_mode & 0o700) }
        return true
    }

    /// Gives a file that is on disk another name, in the place of the one that has it, and keeps it under that name.
    package static func rename(_ path: String, to name: String) -> Bool {
        #if canImport(Darwin)
        let isRenamed = Darwin.rename(path, name) == 0
        #else
        let isRenamed = Glibc.rename(path, name) == 0
        #endif
        return isRenamed && Self.sync(URL(filePath: name).deletingLastPathComponent().path)
    }

    /// Writes what the system still holds of a file or folder to the disk.
    package static func sync(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
