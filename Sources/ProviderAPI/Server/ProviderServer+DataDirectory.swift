import Foundation
import PushStore
import PushSupport

extension ProviderServer {
    /// Creates the data directory if it does not exist, and locks it.
    static func lock(_ directory: String) throws -> DirectoryLock {
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return try DirectoryLock(folder: directory)
        } catch DirectoryLock.Failure.taken {
            throw ProviderError.dataDirectoryInUse(directory)
        } catch {
            throw StoreError.cannotOpen(path: directory, why: ErrorDescription.of(error))
        }
    }
}
