import Foundation
import GRDB
package import ProviderModel
import PushSupport

/// The database file of a ``SQLStore``. It can be copied and examined while a provider uses it, without the master
/// key. Opening it runs no migrations.
package struct SQLiteStoreFile: Sendable {
    /// The result of ``examine(isAtRest:masterKey:)``.
    package struct Condition: Hashable, Sendable {
        /// The size of the database in bytes.
        package var size: Int
        /// The names of the applied migrations, in the order of their application.
        package var migrations: [String]
        /// Descriptions of the corruption that SQLite finds.
        package var damage: [String]
        /// Descriptions of broken rules, or `nil` if no rules apply, because the database has other migrations.
        package var brokenRules: [String]?

        /// Descriptions of all faults. An intact file has none.
        package var faults: [String] { self.damage + (self.brokenRules ?? []) }
    }

    /// The number of pages, of 4 kB each, that a backup copies in one step.
    private static let pagesPerStep: CInt = 1000
    /// The length of the write-ahead log in bytes above which a copy no longer pauses, so that it ends sooner.
    private static let longLog = 32 * 1024 * 1024
    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    private let path: String

    package init(path: String) { self.path = path }

    /// Copies the committed data to a new file that only its owner can read. The file does not contain the master key.
    ///
    /// Writers do not wait for the copy, but the write-ahead log keeps their writes until the copy has finished. The
    /// copy pauses for half of the time, so that other processes can use the disk.
    /// - Parameters:
    ///   - target: The path of the new file, which must not exist. It is created once the copy is complete and on disk.
    ///   - isExamined: Whether the copy is examined before `target` is created, and rejected if it is damaged.
    /// - Returns: The result of the examination, or `nil` if `isExamined` is `false`.
    /// - Throws: ``StoreError/cannotBackUp(path:why:)``, or ``StoreError/cannotOpen(path:why:)`` for the source.
    @discardableResult
    package func copy(to target: String, isExamined: Bool = true) async throws -> Condition? {
        guard !FileManager.default.fileExists(atPath: target)
        else { throw StoreError.cannotBackUp(path: target, why: "there is a file already") }
        let part = SQLiteStoreFile(path: "\(target).part")
        do {
            // This removes the remains of an earlier attempt.
            try part.remove()
            try part.create()
            try await self.copyPages(to: part)
            try await part.foldLog()
            let condition = isExamined ? try await part.examine() : nil
            if let damage = condition?.damage, !damage.isEmpty {
                let faults = damage.joined(separator: "; ")
                throw StoreError.cannotBackUp(path: target, why: "the copy is damaged: \(faults)")
            }
            guard DurableFile.sync(part.path), DurableFile.place(part.path, at: target)
            else { throw StoreError.cannotBackUp(path: target, why: "it cannot be written: \(DurableFile.lastError)") }
            return condition
        } catch {
            try? part.remove()
            guard !(error is StoreError) else { throw error }
            throw StoreError.cannotBackUp(path: target, why: Self.text(error))
        }
    }

    private func copyPages(to part: SQLiteStoreFile) async throws {
        let source = try self.open(isReadOnly: true)
        defer { try? source.close() }
        let queue = try part.open(isReadOnly: false)
        defer { try? queue.close() }
        // The read has its own thread, which may sleep.
        try await source.read { source in
            // This read begins the snapshot. Without a snapshot, the backup restarts whenever another process writes.
            _ = try source.tableExists("notification")
            var stepBegan = ContinuousClock.now
            try queue.writeWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: Self.pagesPerStep) { state in
                    // A long write-ahead log does more harm than a busy disk, so the copy then does not pause.
                    guard !state.isCompleted, self.logBytes < Self.longLog else { return }
                    let time = min(ContinuousClock.now - stepBegan, .milliseconds(500))
                    Thread.sleep(forTimeInterval: time / .seconds(1))
                    stepBegan = .now
                }
            }
        }
    }

    /// Examines the committed data of the whole file, which takes about a second per million deliveries.
    /// - Parameters:
    ///   - isAtRest: Whether no provider is sending, and the last one has shut down or has been recovered from.
    ///   - masterKey: The key that must open all secrets, or `nil` to skip that check.
    /// - Throws: ``StoreError`` for a file that cannot be read at all.
    package func examine(isAtRest: Bool = false, masterKey: MasterKey? = nil) async throws -> Condition {
        try await self.read { database in
            guard try database.tableExists("grdb_migrations"), try database.tableExists("notification")
            else { throw StoreError.cannotOpen(path: self.path, why: "it is not the database of a provider") }
            let migrations = try SQLiteSchema.migrations(in: database)
            let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            let isKnown = migrations == SQLiteSchema.migrator.migrations
            return Condition(
                size: try database.count(sql: size),
                migrations: migrations,
                damage: try IntegrityCheck.damage(in: database),
                brokenRules: isKnown
                    ? try IntegrityCheck.readableRules(in: database, isAtRest: isAtRest, masterKey: masterKey) : nil
            )
        }
    }

    /// Returns the files that issues use. The array is empty for a database of a version without issues.
    /// - Throws: ``StoreError`` for a file that cannot be read.
    package func usedFiles() async throws -> [UsedFile] {
        try await self.read { database in
            guard try database.tableExists("file") else { return [] }
            return try database.records(sql: "SELECT * FROM file WHERE unusedSince IS NULL ORDER BY hash")
        }
    }

    /// Returns whether the database contains sealed secrets. Without a database, there are none.
    /// - Throws: ``StoreError`` for a file that exists and cannot be read.
    package func holdsSecrets() throws -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path)
        // An empty file is a database without any data.
        guard let size = attributes?[.size] as? Int, size > 0 else { return false }
        return try self.read { database in try StoredTable.all.contains { try $0.holdsSecrets(in: database) } }
    }

    /// Returns whether the key is the database's master key, by the check that a provider performs at its start.
    /// - Throws: ``StoreError`` for a file that cannot be read.
    package func isOpened(by masterKey: MasterKey) throws -> Bool {
        try self.read { try SealedRows(database: $0, masterKey: masterKey).areOpened() }
    }

    /// Deletes all secrets that need the master key, in one transaction. No other process may have the file open.
    /// - Returns: The number of deleted secrets for each column that had any.
    /// - Throws: ``StoreError/cannotOpen(path:why:)``.
    package func resetSecrets() throws -> [(secrets: SealedColumn, count: Int)] {
        let queue = try self.open(isReadOnly: false)
        defer { try? queue.close() }
        do {
            return try queue.write { database in
                try StoredTable.all.compactMap { table -> (secrets: SealedColumn, count: Int)? in
                    let count = try table.resetSecrets(in: database)
                    return count > 0 ? table.secrets.map { ($0, count) } : nil
                }
            }
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Runs a checkpoint that empties the write-ahead log. The database file can then be read on its own, even in a
    /// read-only folder. No other process may have the file open.
    /// - Throws: ``StoreError/cannotOpen(path:why:)``, also if another process has the file open.
    package func foldLog() async throws {
        let queue = try self.open(isReadOnly: false)
        defer { try? queue.close() }
        do {
            let mode = try await queue.writeWithoutTransaction { database in
                try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
            }
            guard mode == "delete", !FileManager.default.fileExists(atPath: "\(self.path)-wal")
            else { throw StoreError.cannotOpen(path: self.path, why: "another process has it open") }
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    private var logBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(self.path)-wal")
        return attributes?[.size] as? Int ?? 0
    }

    /// Creates an empty file that only its owner can read.
    private func create() throws {
        let mode = [FileAttributeKey.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: self.path, contents: nil, attributes: mode)
        else { throw StoreError.cannotBackUp(path: self.path, why: "it cannot be written: \(DurableFile.lastError)") }
    }

    private func remove() throws {
        for suffix in Self.suffixes where FileManager.default.fileExists(atPath: self.path + suffix) {
            try FileManager.default.removeItem(atPath: self.path + suffix)
        }
    }

    /// Reads from the file, which is opened for this read only.
    /// - Throws: ``StoreError/cannotOpen(path:why:)`` for an error of the database.
    private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let queue = try self.open(isReadOnly: true)
        defer { try? queue.close() }
        do {
            return try queue.read(body)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Reads from the file without blocking the calling thread. The file is opened for this read only.
    /// - Throws: ``StoreError/cannotOpen(path:why:)`` for an error of the database.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let queue = try self.open(isReadOnly: true)
        defer { try? queue.close() }
        do {
            return try await queue.read(body)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Opens the database file, which must exist.
    /// - Throws: ``StoreError/cannotOpen(path:why:)``.
    private func open(isReadOnly: Bool) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: self.path)
        else { throw StoreError.cannotOpen(path: self.path, why: "there is no such file") }
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(30)
        do {
            return try DatabaseQueue(path: self.path, configuration: configuration)
        } catch let error as DatabaseError where isReadOnly && Self.isOfDirectory(error) {
            return try self.openAsItIs(configuration)
        } catch {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Opens the database file as immutable. Otherwise SQLite creates files beside a database with a write-ahead log
    /// even for reading, which fails in a read-only folder.
    private func openAsItIs(_ configuration: Configuration) throws -> DatabaseQueue {
        // An empty log contains no changes.
        let isAlone = !["-wal", "-journal"].contains { suffix in
            let found = try? FileManager.default.attributesOfItem(atPath: self.path + suffix)
            return (found?[.size] as? Int ?? 0) > 0
        }
        var address = URLComponents()
        address.scheme = "file"
        address.path = URL(filePath: self.path).path
        address.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        guard isAlone, let uri = address.string,
            let queue = try? DatabaseQueue(path: uri, configuration: configuration)
        else {
            throw StoreError.cannotOpen(
                path: self.path,
                why:
                    "to read it, files beside it have to be written, and its folder cannot be: copy it, with those beside it, to one that can"
            )
        }
        return queue
    }

    private static func isOfDirectory(_ error: DatabaseError) -> Bool {
        [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(error.resultCode.primaryResultCode)
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? DatabaseError { return error.reason }
        return ErrorDescription.of(error)
    }
}
