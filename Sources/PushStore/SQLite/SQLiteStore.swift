import Foundation
import GRDB
import Synchronization

/// The store in one SQLite file, for one process.
///
/// It uses the write-ahead log with `synchronous = FULL`, so that what was accepted survives a power failure too.
package final class SQLiteStore: ProviderStore {
    let database: StoreDatabase
    let masterKey: MasterKey
    /// The API keys that were looked up.
    let keyCache = KeyCache()
    /// The ids of the texts that deliveries have as their reason.
    let reasons = ReasonTable()
    /// The ids of the connections that carried pushes.
    let connections = ConnectionTable()
    let owner = LeaseOwner()
    /// The numbers for charts that are to be written.
    let pendingStatistics = PendingStatistics()
    /// The number of changes of bridges since the start.
    let bridgeChanges = Atomic(0)
    /// The index ranges that find the recipients of narrow audiences.
    let drivers = AudienceDriverTable()

    /// Opens or makes the file and runs the migrations that it lacks.
    /// - Parameter limits: The limits on queries of the API.
    /// - Throws: ``StoreError``. A database of another schema is left unchanged.
    package init(path: String, masterKey: MasterKey, limits: QueryLimits = QueryLimits()) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        // Only the owner may read it. SQLite gives the files beside it the same mode.
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.read { try SQLiteSchema.check($0, path: path) }
            // After the pool has been opened, because opening sets NORMAL.
            try pool.writeWithoutTransaction { try $0.execute(sql: Self.writerSettings) }
            try SQLiteSchema.migrator.migrate(pool)
            // A wrong key is noticed now, and not when the first notification is to be sent.
            try pool.write { try SealedRows(database: $0, masterKey: masterKey).checkMasterKey() }
            self.database = try StoreDatabase(pool, readers: try StoreReaders(path: path, limits: limits))
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: path, why: error.message ?? "\(error.resultCode)")
        }
        self.masterKey = masterKey
    }

    /// The settings of the writer's connection.
    ///
    /// Its cache of 32 MB holds the index over a million tokens, in which writes are scattered. Pages that change again
    /// within 8,000 pages of the log, 32 MB too, are copied to the file once. A log that had to grow for a long read is
    /// truncated again. Deleted rows are overwritten, as they are by default in Debian's SQLite.
    private static let writerSettings = """
        PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8000;
        PRAGMA journal_size_limit = 67108864; PRAGMA secure_delete = ON
        """

    /// Interrupts long queries and lets no new ones begin, for the time between the end of the service and ``close()``.
    package func endQueries() { self.database.readers.end() }

    package func close() throws { try self.database.close() }
}
