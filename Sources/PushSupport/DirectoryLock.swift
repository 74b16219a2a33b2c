#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Holds a folder for this process: while it lives, nobody else gets the lock (advisory, `flock`).
package struct DirectoryLock: ~Copyable, Sendable {
    /// Why there is no lock.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The lock file cannot be opened; its path and why.
        case unavailable(String, why: String)
        /// Another process, or this one, has it already.
        case taken

        package var description: String {
            switch self {
            case .unavailable(let path, let why): "\(path) cannot be opened: \(why)"
            case .taken: "somebody else has it"
            }
        }
    }

    private let descriptor: CInt

    package init(folder: String) throws(Failure) {
        let path = "\(folder)/lock"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable(path, why: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .taken
        }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }
}
