import Foundation
import ProviderAPI
import PushProvider
import PushStore
import PushSupport

/// Replaces a provider's database by a backup.
struct DatabaseRestore {
    /// The result of a restore.
    struct Summary: Hashable, Sendable {
        /// The path of the previous database; `nil` if there was none.
        var old: String?
        /// The number of notifications that were paused.
        var notifications = 0
        /// The number of schedules that were paused.
        var schedules = 0
        /// The rules of the store that the database breaks, and the files that are missing, in words. It is restored all the same.
        var faults: [String] = []
    }

    /// The reason that paused notifications show.
    static let reason = "restored from a backup: what was sent since then is not known"

    /// The path of the backup.
    let backup: String
    /// The paths of the provider's data.
    let paths: ProviderConfiguration
    /// Indicates whether an existing database may be replaced.
    let mayReplace: Bool

    /// Restores the backup.
    /// - Throws: ``SettingsError``, ``StoreError``. Then either nothing has been replaced, or no provider starts until
    ///   another attempt has continued.
    func run(pausing: Bool) async throws -> Summary {
        let source = SQLiteStoreFile(path: self.backup)
        // Broken rules of the store are reported later; such a backup is restored all the same.
        try CheckCommand.expectNone(of: try await source.examine().damage, in: self.backup)
        let lock = try Self.lock(self.paths)
        let target = self.paths.databasePath
        let replacement = DatabaseReplacement(paths: self.paths)
        guard !replacement.hasOldFiles || self.mayReplace else {
            let advice = "--replace keeps it under another name and restores the backup"
            throw SettingsError("\(target) exists already, or a log of it: \(advice)")
        }
        guard FileManager.default.fileExists(atPath: self.paths.masterKeyPath) else {
            throw SettingsError("there is no master key at \(self.paths.masterKeyPath): restore it first")
        }
        let new = "\(target).restoring"
        Self.remove(new)
        try await source.copy(to: new, isExamined: false)
        var result = try await self.prepare(new, pausing: pausing)
        result.old = try replacement.setAside()
        try replacement.moveIntoPlace(new)
        // The database is examined as the next start will find it.
        try CheckCommand.expectNone(of: try await SQLiteStoreFile(path: target).examine().damage, in: target)
        try replacement.finish()
        let folder = FileFolder(path: self.paths.filesPath)
        if let missing = try await CheckCommand.missingFiles(of: target, in: folder) {
            result.faults.append("\(missing). \(MissingFilesText.remedy)")
        }
        // Until here no provider may use the directory.
        _ = consume lock
        return result
    }

    /// Removes a database and the files beside it.
    private static func remove(_ path: String) {
        for suffix in DatabaseReplacement.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// Takes the lock of the data directory, so that no provider uses it.
    static func lock(_ paths: ProviderConfiguration) throws -> DirectoryLock {
        do {
            try FileManager.default.createDirectory(
                atPath: paths.dataDirectory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return try DirectoryLock(folder: paths.dataDirectory)
        } catch DirectoryLock.Failure.taken {
            throw SettingsError("a provider is using \(paths.dataDirectory): stop it first")
        } catch {
            throw SettingsError("\(paths.dataDirectory) cannot be used: \(ErrorDescription.of(error))")
        }
    }

    /// Opens the new database as a provider would, so that an unusable one is found before the old one is moved.
    private func prepare(_ path: String, pausing: Bool) async throws -> Summary {
        do {
            let store = try SQLiteStore(path: path, masterKey: MasterKey.load(orCreateAt: self.paths.masterKeyPath))
            let faults = try await store.checkIntegrity()
            var result = Summary()
            if pausing {
                (result.notifications, result.schedules) = try await store.pauseEverything(reason: Self.reason)
            }
            result.faults = faults
            try store.close()
            // The content of the log would stay behind under the old name.
            try await SQLiteStoreFile(path: path).foldLog()
            return result
        } catch {
            Self.remove(path)
            throw error
        }
    }
}
