import Foundation

// The system calls whose names are also those of methods here.
private let systemRename = rename(_:_:)
private let systemWrite = write(_:_:_:)

/// Writes files that are complete or absent, even after a power failure.
package enum DurableFile {
    /// The operating system's description of the last call that failed.
    package static var lastError: String { String(cString: strerror(errno)) }

    /// Creates a file that only its owner can read.
    ///
    /// - Returns: `true` if it was created, and `false` after a failure, such as an existing file with that name, which
    ///   is left unchanged. ``lastError`` describes the failure.
    package static func create(_ path: String, _ content: [UInt8]) -> Bool {
        Self.write(content, beside: path) { Self.place($0, at: path) }
    }

    /// Creates a file that only its owner can read, or replaces an existing one.
    ///
    /// - Returns: `true` if it was written, and `false` after a failure.
    package static func replace(_ path: String, _ content: [UInt8]) -> Bool {
        Self.write(content, beside: path) { Self.rename($0, to: path) }
    }

    /// Writes a temporary file to disk and passes its path to `place`. The file is removed unless `place` has moved it.
    private static func write(_ content: [UInt8], beside path: String, place: (String) -> Bool) -> Bool {
        let temporary = "\(path).\(UUID().uuidString)"
        let descriptor = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let isSynced = Self.write(content, to: descriptor) && fsync(descriptor) == 0
        close(descriptor)
        let isPlaced = isSynced && place(temporary)
        let error = errno
        unlink(temporary)
        errno = error
        return isPlaced
    }

    private static func write(_ content: [UInt8], to descriptor: CInt) -> Bool {
        content.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = systemWrite(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
    }

    /// Renames a file unless the new name is in use, and writes the folder's entries to disk.
    ///
    /// - Returns: `true` if it was renamed, and `false` after a failure.
    package static func place(_ temporary: String, at path: String) -> Bool {
        // Unlike rename, link never replaces a file that another process has created meanwhile.
        guard link(temporary, path) == 0 else { return false }
        unlink(temporary)
        return Self.sync(URL(filePath: path).deletingLastPathComponent().path)
    }

    /// Creates a folder that only its owner can access, with its parents. An existing folder gets the same permissions.
    ///
    /// A folder that is open to all users, such as `/tmp`, or that another user owns, keeps its permissions.
    /// - Returns: `true` if the folder exists, and `false` if it could not be created.
    package static func makePrivateFolder(_ path: String) -> Bool {
        // POSIX names every cause in errno, which an error of FileManager may not.
        let parent = URL(filePath: path).deletingLastPathComponent().path
        if parent != path, access(parent, F_OK) != 0, !Self.makePrivateFolder(parent) { return false }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { return false }
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            errno = ENOTDIR
            return false
        }
        let isShared = status.st_mode & S_ISVTX != 0 || status.st_uid != geteuid()
        if !isShared, status.st_mode & 0o077 != 0 { chmod(path, status.st_mode & 0o700) }
        return true
    }

    /// Renames a file, replaces an existing file with the new name, and writes the folder's entries to disk.
    ///
    /// - Returns: `true` if it was renamed, and `false` after a failure.
    package static func rename(_ path: String, to name: String) -> Bool {
        systemRename(path, name) == 0 && Self.sync(URL(filePath: name).deletingLastPathComponent().path)
    }

    /// Writes the cached contents of a file or folder to disk.
    ///
    /// - Returns: `true` if they were written, and `false` after a failure.
    package static func sync(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}

/// An advisory lock on a folder (`flock`), which is held until the value is destroyed.
package struct DirectoryLock: ~Copyable, Sendable {
    /// The reason why a folder could not be locked.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The failure to open the lock file at this path, so that the folder was not locked.
        case unavailable(String, reason: String)
        /// The failure to lock a folder that this process or another one has locked.
        case taken

        /// The explanation of the failure, for an error message.
        package var description: String {
            switch self {
            case .unavailable(let path, let reason): "\(path) cannot be opened: \(reason)"
            case .taken: "another process has it"
            }
        }
    }

    private let descriptor: CInt

    /// Locks the file `lock` in a folder. Throws, without waiting, if the lock is in use.
    package init(folder: String) throws(Failure) {
        let path = "\(folder)/lock"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable(path, reason: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .taken
        }
        self.descriptor = descriptor
    }

    deinit {
        // A child process that is being started has a copy of the descriptor, which would keep the lock.
        _ = flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }
}

/// The attributes of a file that reveal a change of its contents, of the file itself, or of a symbolic link's target.
package struct FileState: Hashable, Sendable {
    private var modified: Date?
    private var size: Int?
    private var node: Int?

    /// Reads the attributes of the file at a path, or returns `nil` if there is none.
    package init?(_ path: String) {
        let target = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return nil }
        self.modified = attributes[.modificationDate] as? Date
        self.size = attributes[.size] as? Int
        self.node = attributes[.systemFileNumber] as? Int
    }
}
