import Foundation
import GRDB

/// The store in one SQLite file, for one process.
///
/// Write-ahead log with `synchronous = FULL`: what was accepted survives a power failure too.
package final class SQLiteStore: ProviderStore {
    let database: StoreDatabase
    let masterKey: MasterKey
    /// The API keys that were asked for.
    let keyCache = KeyCache()
    /// The ids of the texts that deliveries name as their reason.
    let reasons = ReasonTable()
    let owner = LeaseOwner()
    /// How the recipients of narrow audiences are found.
    let drivers = AudienceDriverTable()

    /// Opens or makes the file and runs the migrations that are missing.
    /// - Throws: ``StoreError``.
    package convenience init(path: String, masterKey: MasterKey) throws {
        try self.init(path: path, masterKey: masterKey, limits: QueryLimits())
    }

    /// - Parameter limits: of what people may ask.
    package init(path: String, masterKey: MasterKey, limits: QueryLimits) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        // For nobody else, and so are the files that SQLite makes beside it.
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // After the pool has been opened, because opening sets NORMAL.
            try pool.writeWithoutTransaction { try $0.execute(sql: Self.writerSettings) }
            guard try pool.read({ try !SQLiteSchema.migrator.hasBeenSuperseded($0) }) else {
                throw StoreError.newerSchema(path: path)
            }
            try SQLiteSchema.migrator.migrate(pool)
            // Better now than when the first notification is to be sent.
            try pool.write { try SealedRows(database: $0, masterKey: masterKey).adopt() }
            self.database = StoreDatabase(pool, readers: try StoreReaders(path: path, limits: limits))
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: path, why: error.message ?? "\(error.resultCode)")
        }
        self.masterKey = masterKey
    }

    /// The writer's cache, 32 MB, holds the index over a million tokens, which is written to all over. Pages of it that
    /// change again within 8000 pages of the log, 32 MB too, are copied to the file once. A log that had to grow, because
    /// somebody read for long, shrinks again.
    private static let writerSettings = """
        PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 8000;
        PRAGMA journal_size_limit = 67108864
        """

    /// People's long questions are interrupted, and no new ones are answered: for the time between the end of the service
    /// and ``close()``.
    package func endQuestions() {
        self.database.readers.end()
    }

    package func close() throws {
        try self.database.close()
    }
}
