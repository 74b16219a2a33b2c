import Foundation
import ProviderAPI
import PushStore
import PushSupport

/// Puts a backup in the place of a provider's database.
struct DatabaseRestore {
    struct Outcome: Hashable, Sendable {
        /// Where the database is that was there before.
        var old: String?
        /// Paused.
        var notifications = 0
        var schedules = 0
        /// What does not fit together in it, in words. It is brought back all the same.
        var faults: [String] = []
    }

    static let reason = "restored from a backup: what was sent since then is not known"

    let backup: String
    let places: ProviderConfiguration
    let mayReplace: Bool

    /// - Throws: ``SettingsError``, ``StoreError``. Then nothing has been replaced, or by half, so that nobody serves from it
    ///   and another attempt goes on.
    func run(pausing: Bool) async throws -> Outcome {
        let source = SQLiteStoreFile(path: self.backup)
        // What only breaks the store's rules is told later and brought back all the same.
        try CheckCommand.expectNone(of: try await source.examine().damage, in: self.backup)
        let lock = try self.lock()
        defer { withExtendedLifetime(lock) {} }
        let target = self.places.databasePath
        let replacement = DatabaseReplacement(self.places)
        guard !replacement.isSomethingThere || self.mayReplace else {
            throw SettingsError(
                "\(target) is there already, or a log of it: --replace puts the backup in its place and keeps it aside"
            )
        }
        guard FileManager.default.fileExists(atPath: self.places.masterKeyPath) else {
            throw SettingsError("there is no master key at \(self.places.masterKeyPath): bring it back first")
        }
        let new = "\(target).restoring"
        Self.remove(new)
        try await source.copy(to: new, isExamined: false)
        var outcome = try await self.prepare(new, pausing: pausing)
        outcome.old = try replacement.setAside()
        try replacement.place(new)
        // As whoever opens it next will find it.
        try CheckCommand.expectNone(of: try await SQLiteStoreFile(path: target).examine().damage, in: target)
        try replacement.end()
        return outcome
    }

    private static func remove(_ path: String) {
        for suffix in DatabaseReplacement.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func lock() throws -> DataDirectoryLock {
        do {
            try FileManager.default.createDirectory(
                atPath: self.places.dataDirectory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return DataDirectoryLock(lock: try DirectoryLock(folder: self.places.dataDirectory))
        } catch DirectoryLock.Failure.taken {
            throw SettingsError("a provider is using \(self.places.dataDirectory): stop it first")
        } catch {
            throw SettingsError("\(self.places.dataDirectory) cannot be used: \(ErrorDescription.of(error))")
        }
    }

    /// Opens the new database as a provider would, so that what is wrong with it shows before it is needed.
    private func prepare(_ path: String, pausing: Bool) async throws -> Outcome {
        do {
            let store = try SQLiteStore(path: path, masterKey: MasterKey.load(orCreateAt: self.places.masterKeyPath))
            let faults = try await store.checkIntegrity()
            var outcome = Outcome()
            if pausing {
                (outcome.notifications, outcome.schedules) = try await store.pauseEverything(reason: Self.reason)
            }
            outcome.faults = faults
            try store.close()
            // What is still in the log would stay behind under the old name.
            try await SQLiteStoreFile(path: path).foldLog()
            return outcome
        } catch {
            Self.remove(path)
            throw error
        }
    }
}

/// Keeps a lock as long as something has it.
private final class DataDirectoryLock: Sendable {
    private let lock: DirectoryLock

    init(lock: consuming DirectoryLock) {
        self.lock = lock
    }
}
