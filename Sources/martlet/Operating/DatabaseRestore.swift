import Foundation
import PushProtocol
import PushServer
import PushStore

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
    /// Notifications asked for at a time.
    private static let page = 500

    let backup: String
    let places: ProviderConfiguration
    let mayReplace: Bool

    /// - Throws: ``SettingsError``, ``StoreError``. Then nothing has been replaced.
    func run(pausing: Bool) async throws -> Outcome {
        let source = SQLiteStoreFile(path: self.backup)
        // What only breaks the store's rules is told later and brought back all the same.
        try CheckCommand.expectNone(of: try await source.examine().damage, in: self.backup)
        let lock = try self.lock()
        defer { withExtendedLifetime(lock) {} }
        let target = self.places.databasePath
        let isThere = FileManager.default.fileExists(atPath: target)
        guard !isThere || self.mayReplace else {
            throw SettingsError("\(target) is there already: --replace puts the backup in its place and keeps it aside")
        }
        guard FileManager.default.fileExists(atPath: self.places.masterKeyPath) else {
            throw SettingsError("there is no master key at \(self.places.masterKeyPath): bring it back first")
        }
        let new = "\(target).restoring"
        for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: new + suffix) }
        try await source.copy(to: new, isExamined: false)
        var outcome = try await self.prepare(new, pausing: pausing)
        if isThere { outcome.old = try Self.setAside(target) }
        try FileManager.default.moveItem(atPath: new, toPath: target)
        return outcome
    }

    /// The database and what lies beside it while it is open.
    private static let suffixes = ["", "-wal", "-shm"]

    private func lock() throws -> DirectoryLock {
        do {
            try FileManager.default.createDirectory(
                atPath: self.places.dataDirectory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return DirectoryLock(lock: try FolderLock(folder: self.places.dataDirectory))
        } catch FolderLock.Failure.taken {
            throw SettingsError("a provider is using \(self.places.dataDirectory): stop it first")
        } catch {
            throw SettingsError("\(self.places.dataDirectory) cannot be used: \(ErrorText.of(error))")
        }
    }

    /// Opens the new database as a provider would, so that what is wrong with it shows before it is needed.
    private func prepare(_ path: String, pausing: Bool) async throws -> Outcome {
        do {
            let store = try SQLiteStore(path: path, masterKey: MasterKey.load(orCreateAt: self.places.masterKeyPath))
            let faults = try await store.checkIntegrity()
            var outcome = pausing ? try await Self.pauseAll(store) : Outcome()
            outcome.faults = faults
            try store.close()
            // What is still in the log would stay behind under the old name.
            try await SQLiteStoreFile(path: path).foldLog()
            return outcome
        } catch {
            for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
            throw error
        }
    }

    private static func pauseAll(_ store: any PushStore) async throws -> Outcome {
        var outcome = Outcome()
        let now = SystemTime().now
        for state in [NotificationRecord.State.scheduled, .accepted, .sending] {
            var before: NotificationCursor?
            repeat {
                let page = try await store.notifications(app: nil, state: state, before: before, limit: Self.page)
                for notification in page.notifications {
                    let paused = try await store.setState(.pause(reason: Self.reason), of: notification.id, now: now)
                    if paused?.state == .paused { outcome.notifications += 1 }
                }
                before = page.next
            } while before != nil
        }
        for app in try await store.apps() {
            for var schedule in try await store.schedules(app: app.id) where !schedule.isPaused {
                schedule.isPaused = true
                if try await store.updateSchedule(schedule) { outcome.schedules += 1 }
            }
        }
        return outcome
    }

    /// Where the database is from now on.
    private static func setAside(_ path: String) throws -> String {
        let moment = Date.now.formatted(.iso8601.timeSeparator(.omitted).dateSeparator(.omitted))
        let aside = "\(path).before-\(moment)"
        for suffix in Self.suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        return aside
    }
}

/// Keeps a lock as long as something has it.
private final class DirectoryLock: Sendable {
    private let lock: FolderLock

    init(lock: consuming FolderLock) {
        self.lock = lock
    }
}
