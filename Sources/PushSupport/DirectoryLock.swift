#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A lock on a folder, which is held until the value is destroyed. It is advisory (`flock`).
package struct DirectoryLock: ~Copyable, Sendable {
    /// An error of an attempt to lock.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The lock file cannot be opened: its path and the reason.
        case unavailable(String, reason: String)
        /// Another process, or this one, has the lock.
        case taken

        /// The explanation for people.
        package var description: String {
            switch self {
            case .unavailable(let path, let reason): "\(path) cannot be opened: \(reason)"
            case .taken: "another process has it"
            }
        }
    }

    private let descriptor: CInt

    /// Locks a folder, with a file `lock` in it, or throws at once.
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
