import Foundation
import GRDB
package import PushSupport

/// A store in a single SQLite file.
///
/// It uses a write-ahead log with `synchronous = FULL`, so that accepted notifications survive a power failure.
extension SQLStore {
    /// Opens or creates the database file, and runs missing migrations.
    /// - Parameters:
    ///   - limits: The limits on queries of the API.
    ///   - budgets: The registry of the time budgets from which long queries are paid.
    /// - Throws: ``StoreError``. A database with a schema of another version is left unchanged.
    package convenience init(
        path: String,
        masterKey: MasterKey,
        limits: QueryLimits = QueryLimits(),
        budgets: BudgetRegistry = BudgetRegistry()
    ) throws {
        try self.init(
            path: path,
            masterKey: masterKey,
            limits: limits,
            budgets: budgets,
            logLimits: LogStateMachine.Limits()
        )
    }

    convenience init(
        path: String,
        masterKey: MasterKey,
        limits: QueryLimits,
        budgets: BudgetRegistry,
        logLimits: LogStateMachine.Limits
    ) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        do {
            if !FileManager.default.fileExists(atPath: path) { try Self.make(path) }
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.read { try SQLiteSchema.check($0, path: path) }
            // These settings follow the opening of the pool, which sets `synchronous = NORMAL`.
            try pool.writeWithoutTransaction { try $0.execute(sql: Self.writerSettings) }
            try SQLiteSchema.migrator.migrate(pool)
            // A wrong master key is detected now, and not with the first notification.
            try pool.write { try SealedRows(database: $0, masterKey: masterKey).checkMasterKey() }
            let log = WriteAheadLog(limits: logLimits)
            let readers = try StoreReaders(path: path, limits: limits, budgets: budgets, log: log)
            let database = try SQLiteDatabase(pool, readers: readers, log: log)
            self.init(database: database, masterKey: masterKey)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: path, why: error.reason)
        }
    }

    /// Creates a database file that only its owner can read. SQLite gives the files beside it the same mode.
    ///
    /// The file gets its name only once it contains a page, because an empty file counts as a lost database.
    static func make(_ path: String) throws {
        let new = "\(path).new"
        try? FileManager.default.removeItem(atPath: new)
        _ = FileManager.default.createFile(atPath: new, contents: nil, attributes: [.posixPermissions: 0o600])
        let queue = try DatabaseQueue(path: new)
        try queue.write { try $0.execute(sql: "PRAGMA user_version = 1; PRAGMA user_version = 0") }
        try queue.close()
        guard DurableFile.rename(new, to: path)
        else { throw StoreError.cannotOpen(path: path, why: "it cannot be made: \(DurableFile.lastError)") }
    }

    /// The settings of the writer's connection.
    ///
    /// The cache of 32 MB contains the index over a million tokens, in which writes are scattered. A log that has grown
    /// during a long read is truncated again. Deleted rows are overwritten, as Debian's SQLite does by default.
    /// ``WriteAheadLog`` decides when checkpoints run.
    private static let writerSettings = """
        PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
        PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON
        """
}

/// The database file and its write-ahead log. A checkpoint cannot copy the log beyond the oldest snapshot in use.
///
/// The lengths are 0, and nothing is done, for a database of another engine, which keeps its files itself.
extension SQLStore {
    var sqlite: SQLiteDatabase? { self.database as? SQLiteDatabase }

    package var logBytes: Int { self.sqlite.map { Self.length(ofFile: "\($0.pool.path)-wal") } ?? 0 }

    /// The length of the database file in bytes, without the write-ahead log.
    package var fileBytes: Int { self.sqlite.map { Self.length(ofFile: $0.pool.path) } ?? 0 }

    /// The number of bytes that this process can still write to the database's file system, or `nil` if unknown.
    package var availableBytes: Int? {
        guard let sqlite = self.sqlite else { return nil }
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: sqlite.pool.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }

    private static func length(ofFile path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Runs a checkpoint that empties the write-ahead log, after readers have finished or renewed their snapshots.
    /// - Returns: `true`, or `false` if an old snapshot, of another process or of a long read, prevents it.
    package func foldLog() async -> Bool {
        guard let sqlite = self.sqlite else { return true }
        return await sqlite.log.fold(sqlite.pool)
    }

    /// Empties the log as ``foldLog()`` does, but only if it is long and a snapshot has not just prevented that.
    package func foldLongLog() async {
        guard let sqlite = self.sqlite else { return }
        await sqlite.log.foldFile(sqlite.pool)
    }

    /// The number of truncating checkpoints that succeeded, and the number of those that a snapshot prevented.
    package var logFolds: (complete: Int, prevented: Int) { self.sqlite?.log.folds ?? (0, 0) }
}
