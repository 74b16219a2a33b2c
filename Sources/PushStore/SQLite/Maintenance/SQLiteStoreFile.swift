import Foundation
import GRDB
package import ProviderModel
import PushSupport

/// The database file of a ``SQLiteStore``. It can be copied and examined while it is in use, and without the master key. It
/// is not migrated.
package struct SQLiteStoreFile: Sendable {
    /// The result of an examination.
    package struct Condition: Hashable, Sendable {
        /// The size in bytes.
        package var size: Int
        /// The migrations that were applied to the database, in their order.
        package var migrations: [String]
        /// The faults that SQLite finds, in words.
        package var damage: [String]
        /// The faults by the store's own rules, in words; `nil` if the migrations are not those of this version.
        package var brokenRules: [String]?

        /// All faults; empty for an intact file.
        package var faults: [String] { self.damage + (self.brokenRules ?? []) }
    }

    /// The number of pages that a backup copies at once: 4 MB.
    private static let pagesPerStep: CInt = 1000
    /// The length of the log in bytes from which a copy does not pause any more.
    private static let longLog = 32 * 1024 * 1024
    /// The suffixes of a database's files.
    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    private let path: String

    package init(path: String) { self.path = path }

    /// Copies the committed content to a file that only its owner can read. The file does not contain the master key.
    ///
    /// Writers do not wait for the copy. Their writes stay in the log until it ends. The copy pauses for half of the time, so
    /// that others get the disk too.
    /// - Parameters:
    ///   - target: The path of a file that does not exist. It is created when the copy is complete and on disk.
    ///   - isExamined: Whether the copy is examined before `target` is created, and rejected if it is damaged.
    /// - Returns: The result of the examination.
    /// - Throws: ``StoreError``.
    @discardableResult
    package func copy(to target: String, isExamined: Bool = true) async throws -> Condition? {
        guard !FileManager.default.fileExists(atPath: target)
        else { throw StoreError.cannotBackUp(path: target, why: "there is a file already") }
        let part = SQLiteStoreFile(path: "\(target).part")
        do {
            // This removes the rest of an earlier attempt.
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

    /// Copies the pages of one snapshot.
    private func copyPages(to part: SQLiteStoreFile) async throws {
        let source = try self.open(isReadOnly: true)
        defer { try? source.close() }
        let queue = try part.open(isReadOnly: false)
        defer { try? queue.close() }
        // The read has a thread of its own, which may sleep.
        try await source.read { source in
            // This read begins the snapshot. Without one, the backup begins anew whenever another process writes.
            _ = try source.tableExists("notification")
            var stepBegan = ContinuousClock.now
            try queue.writeWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: Self.pagesPerStep) { state in
                    // A log that has become long is worse than a busy disk.
                    guard !state.isCompleted, self.logBytes < Self.longLog else { return }
                    let time = min(ContinuousClock.now - stepBegan, .milliseconds(500))
                    Thread.sleep(forTimeInterval: time / .seconds(1))
                    stepBegan = .now
                }
            }
        }
    }

    /// Examines the committed content of the whole file, which takes about a second per million deliveries.
    /// - Parameters:
    ///   - isAtRest: Whether no provider is sending, and the last one has shut down or has been recovered from.
    ///   - masterKey: The key that must open all secrets; `nil` to skip that check.
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
                    ? try IntegrityCheck.brokenRules(in: database, isAtRest: isAtRest, masterKey: masterKey) : nil
            )
        }
    }

    /// Returns the files that issues use; none for a database of a version without issues.
    /// - Throws: ``StoreError`` for a file that cannot be read.
    package func usedFiles() async throws -> [UsedFile] {
        try await self.read { database in
            guard try database.tableExists("file") else { return [] }
            return try database.records(sql: "SELECT * FROM file WHERE unusedSince IS NULL ORDER BY hash")
        }
    }

    /// Returns `true` if the database holds sealed secrets; `false` if there is no database.
    /// - Throws: ``StoreError`` for a file that exists and cannot be read.
    package func holdsSecrets() throws -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path)
        // An empty file is a database to which nothing has been written.
        guard let size = attributes?[.size] as? Int, size > 0 else { return false }
        return try self.read { database in try StoredTable.all.contains { try $0.holdsSecrets(in: database) } }
    }

    /// Returns `true` if a key is that of this database, by the same check as at a start.
    /// - Throws: ``StoreError`` for a file that cannot be read.
    package func isOpened(by masterKey: MasterKey) throws -> Bool {
        try self.read { try SealedRows(database: $0, masterKey: masterKey).areOpened() }
    }

    /// Removes all secrets that need the master key in one transaction. No other process may have the file open.
    /// - Returns: The number of secrets of each table that had any.
    /// - Throws: ``StoreError``.
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

    /// Copies the log into the database file, which can be read without other files then, even in a read-only folder. No
    /// other process may have the file open.
    /// - Throws: ``StoreError``.
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

    /// Reads from the file, which is opened for this only.
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

    /// Reads from the file on a thread of its own, otherwise as the function that does not wait.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let queue = try self.open(isReadOnly: true)
        defer { try? queue.close() }
        do {
            return try await queue.read(body)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: self.path, why: Self.text(error))
        }
    }

    /// Opens the file, which must exist.
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

    /// Opens the file as immutable. Otherwise SQLite creates files beside a database with a write-ahead log even to read it,
    /// which is impossible in a read-only folder.
    private func openAsItIs(_ configuration: Configuration) throws -> DatabaseQueue {
        // An empty log has no changes.
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

extension MasterKey {
    /// Reads the key from a file. A new key is created only if the database holds no secrets: a new key could not open
    /// them, and would hide that the right one is missing.
    /// - Throws: ``StoreError/missingMasterKey(path:database:)``, ``StoreError/emptyDatabase(path:masterKey:)``, and
    ///   ``StoreError`` for a database that cannot be read.
    package static func load(orCreateAt path: String, besideDatabase database: String) throws -> MasterKey {
        if FileManager.default.fileExists(atPath: path) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: database)
            guard attributes?[.size] as? Int != 0 else {
                throw StoreError.emptyDatabase(path: database, masterKey: path)
            }
        } else if try SQLiteStoreFile(path: database).holdsSecrets() {
            throw StoreError.missingMasterKey(path: path, database: database)
        }
        return try Self.load(orCreateAt: path)
    }
}
