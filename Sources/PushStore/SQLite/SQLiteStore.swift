import Foundation
import GRDB
import PushProtocol

/// The store in one SQLite file, for one process.
///
/// Write-ahead log with `synchronous = FULL`: what was accepted survives a power failure too.
package final class SQLiteStore: PushStore {
    let database: DatabasePool
    let masterKey: MasterKey
    /// The ids of the texts that deliveries name as their reason.
    let reasons = ReasonTable()
    /// How the recipients of narrow audiences are found.
    let drivers = AudienceDriverTable()

    /// Opens or makes the file and runs the migrations that are missing.
    /// - Throws: ``StoreError``.
    package init(path: String, masterKey: MasterKey) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        do {
            self.database = try DatabasePool(path: path, configuration: configuration)
            // After the pool has been opened, because opening sets NORMAL.
            try self.database.writeWithoutTransaction {
                try $0.execute(
                    sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000"
                )
            }
            guard try self.database.read({ try !SQLiteSchema.migrator.hasBeenSuperseded($0) }) else {
                throw StoreError.newerSchema(path: path)
            }
            try SQLiteSchema.migrator.migrate(self.database)
        } catch let error as DatabaseError {
            throw StoreError.cannotOpen(path: path, why: error.message ?? "\(error.resultCode)")
        }
        self.masterKey = masterKey
        try self.checkMasterKey()
    }

    /// Better now than when the first notification is to be sent.
    private func checkMasterKey() throws {
        let sealed = try self.database.read { try Data.fetchOne($0, sql: "SELECT sealed FROM credential LIMIT 1") }
        if let sealed { _ = try self.masterKey.open(sealed) }
    }

    package func close() throws {
        try self.database.close()
    }
}
