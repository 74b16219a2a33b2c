import ArgumentParser
import Foundation
import ProviderAPI
import PushProvider
import PushStore
import PushSupport

/// `martlet restore`: restores a provider's database from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = command("restore")
        .help("Restore a provider's database from a backup; the provider must not run.")
        .detail(
            """
            The backup is checked, the master key tried, and the database migrated to this version before anything is \
            replaced; the previous database is kept beside it.
            """
        )
        .detail(
            """
            Notifications and schedules that had not ended when the backup was made are paused, because they may have \
            been sent since: look at each, then resume or cancel it.
            """
        )
        .example("restore /backup/martlet-2026-12-01.sqlite --data-directory /var/lib/martlet --replace")

    @OptionGroup var data: DataDirectoryOptions
    @Argument(help: "The backup.") var backup: String
    @Flag(help: "Replace an existing database.") var replace = false
    @Flag(help: "Continue with notifications and schedules as they were when the backup was made.") var noPause = false

    func run() async throws {
        let paths = try await self.data.paths()
        let restore = DatabaseRestore(backup: try InputFile.file(self.backup), paths: paths, mayReplace: self.replace)
        let result = try await restore.run(pausing: !self.noPause)
        for fault in result.faults { StandardError.line("warning: \(fault)") }
        if self.data.json {
            let summary: JSONValue = .members([
                "database": paths.databasePath.json, "backup": self.backup.json, "previous": result.old?.json,
                "pausedNotifications": self.noPause ? nil : result.notifications.json,
                "pausedSchedules": self.noPause ? nil : result.schedules.json, "warnings": .texts(result.faults),
            ])
            return try StandardOutput.result(try summary.line)
        }
        try StandardOutput.result("\(paths.databasePath) is restored from \(self.backup)")
        if let old = result.old { try StandardOutput.result("the previous database is \(old)") }
        if !self.noPause {
            try StandardOutput.result("paused: \(result.notifications) notifications, \(result.schedules) schedules")
        }
    }
}

/// The restoration of a provider's database from a backup.
struct DatabaseRestore {
    /// The result of a restore.
    struct Summary: Hashable, Sendable {
        /// The path to which the previous database was moved, or `nil` if there was none.
        var old: String?
        var notifications = 0
        var schedules = 0
        /// The descriptions of inconsistencies in the database and of missing files, which did not prevent the restore.
        var faults: [String] = []
    }

    /// The reason that is shown for notifications that the restore paused.
    static let reason = "restored from a backup: what was sent since then is not known"

    let backup: String
    let paths: ProviderConfiguration
    /// A Boolean value that indicates whether an existing database is replaced, instead of making the restore fail.
    let mayReplace: Bool

    /// Restores the backup.
    /// - Parameter pausing: Pass `true` to pause the notifications and schedules of the backup, which prevents
    ///   duplicates.
    /// - Throws: ``SettingsError`` or ``StoreError``. After an error, either nothing has been replaced, or no provider
    ///   starts until another attempt has succeeded.
    func run(pausing: Bool) async throws -> Summary {
        let source = SQLiteStoreFile(path: self.backup)
        // Broken rules of the store are only reported later, and do not prevent the restore.
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
        // The lock is held until here, so that no provider uses the directory.
        _ = consume lock
        return result
    }

    private static func remove(_ path: String) {
        for suffix in DatabaseReplacement.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// Locks the data directory, so that no provider can use it.
    /// - Throws: ``SettingsError`` if a provider is using it.
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

    /// Opens the new database as a provider would, so that an unusable one is detected before the old one is moved. If
    /// `pausing` is `true`, also pauses its notifications and schedules.
    private func prepare(_ path: String, pausing: Bool) async throws -> Summary {
        do {
            let store = try SQLStore(path: path, masterKey: MasterKey.load(orCreateAt: self.paths.masterKeyPath))
            let faults = try await store.checkIntegrity()
            var result = Summary()
            if pausing {
                (result.notifications, result.schedules) = try await store.pauseEverything(reason: Self.reason)
            }
            result.faults = faults
            try await store.close()
            // The write-ahead log would stay behind under the old name.
            try await SQLiteStoreFile(path: path).foldLog()
            return result
        } catch {
            Self.remove(path)
            throw error
        }
    }
}
