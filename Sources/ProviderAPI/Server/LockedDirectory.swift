import Foundation
import PushStore
import PushSupport
import Synchronization

/// A data directory that no other provider uses.
final class LockedDirectory: Sendable {
    private let lock: Mutex<DirectoryLock?>

    /// Creates the directory if it does not exist, and locks it.
    /// - Throws: ``ProviderError/dataDirectoryInUse(_:)``, `StoreError`.
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

    /// Lets other providers use the directory.
    func release() { self.lock.withLock { $0 = nil } }
}
