import Foundation
import PushStore
import PushSupport
import Synchronization

/// The lock on a data directory, which prevents a second provider from using it.
final class LockedDirectory: Sendable {
    private let lock: Mutex<DirectoryLock?>

    /// Creates the directory if it does not exist, and locks it until ``release()``.
    /// - Throws: ``ProviderError/dataDirectoryInUse(_:)`` if another process has locked it, or `StoreError` if it
    ///   cannot be created or locked.
    init(_ directory: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            self.lock = Mutex(try DirectoryLock(folder: directory))
        } catch DirectoryLock.Failure.taken {
            throw ProviderError.dataDirectoryInUse(directory)
        } catch {
            throw StoreError.cannotOpen(path: directory, why: ErrorDescription.of(error))
        }
    }

    func release() { self.lock.withLock { $0 = nil } }
}
