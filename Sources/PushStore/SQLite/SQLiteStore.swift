import Foundation
import GRDB
import ProviderModel
package import PushSupport
import Synchronization

/// The store of one process, in a single SQLite file.
///
/// It uses a write-ahead log with `synchronous = FULL`, so that accepted notifications survive a power failure.
package final class SQLiteStore: ProviderStore {
    let database: StoreDatabase
    let masterKey: MasterKey
    /// A cache of API keys by their hashes, by which most requests are authorized. Every change of a key clears it.
    let keyCache = SharedCache<[UInt8], APIKeyRecord>(maximum: 10_000)
    let owner = LeaseOwner()
    let pageWriter = PageWriter()
    let pageReader = PageReader()
    /// The number of changes of bridges since the process started, including additions and erasures of apps.
    let bridgeChanges = Atomic(0)

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

    init(
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
            self.database = try StoreDatabase(pool, readers: readers, log: log)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: path, why: error.reason)
        }
        self.masterKey = masterKey
    }

    /// Creates a database file that only its owner can read. SQLite gives the files beside it the same mode.
    ///
    /// The file gets its name only once it contains a page, because an empty file counts as a lost database.
    private static func make(_ path: String) throws {
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

    /// Interrupts running long queries and rejects new ones, with ``StoreError/ending``. It is called after the service
    /// has stopped and before ``close()``.
    package func endQueries() { self.database.readers.end() }

    package func close() async throws { try await self.database.close() }
}

/// The database file and its write-ahead log. A checkpoint cannot copy the log beyond the oldest snapshot in use.
extension SQLiteStore {
    package var logBytes: Int { Self.length(ofFile: "\(self.database.pool.path)-wal") }

    /// The length of the database file in bytes, without the write-ahead log.
    package var fileBytes: Int { Self.length(ofFile: self.database.pool.path) }

    /// The number of bytes that this process can still write to the database's file system, or `nil` if unknown.
    package var availableBytes: Int? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: self.database.pool.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }

    private static func length(ofFile path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Runs a checkpoint that empties the write-ahead log, after readers have finished or renewed their snapshots.
    /// - Returns: `true`, or `false` if an old snapshot, of another process or of a long read, prevents it.
    package func foldLog() async -> Bool { await self.database.log.fold(self.database.pool) }

    /// Empties the log as ``foldLog()`` does, but only if it is long and a snapshot has not just prevented that.
    package func foldLongLog() async { await self.database.log.foldFile(self.database.pool) }

    /// The number of truncating checkpoints that succeeded, and the number of those that a snapshot prevented.
    package var logFolds: (complete: Int, prevented: Int) { self.database.log.folds }

    /// The number of running long queries, and the number of those that wait in the queue.
    package var queryCounts: (running: Int, waiting: Int) { self.database.readers.queryCounts }
}

/// The number that identifies this process as the owner of leases. Each start of the process gets a new number.
final class LeaseOwner: Sendable {
    private let known = Mutex<Int64?>(nil)

    /// Returns the number. It is on disk before it is first used.
    func number(_ database: StoreDatabase) async throws -> Int64 {
        if let number = self.known.withLock({ $0 }) { return number }
        let added = try await database.write { database in
            // Numbers are never reused. Earlier owners are kept only while they have leases.
            try database.run(sql: "DELETE FROM node WHERE id NOT IN (SELECT owner FROM lease)")
            try database.run(sql: "INSERT INTO node (startedAt) VALUES (unixepoch() * 1000)")
            return database.lastInsertedRowID
        }
        return self.known.withLock { known in
            let number = known ?? added
            known = number
            return number
        }
    }
}
