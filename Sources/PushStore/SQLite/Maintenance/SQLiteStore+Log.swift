import Foundation
import GRDB

/// The write-ahead log. A checkpoint copies it into the database only as far as the oldest snapshot in use.
extension SQLiteStore {
    /// The time in milliseconds for which a checkpoint waits for snapshots other than those of long queries.
    private static let checkpointTimeout = 200
    /// The time in milliseconds for which other statements wait for a lock.
    private static let timeout = 5000

    /// The length of the log in bytes.
    package var logBytes: Int { Self.length(ofFile: "\(self.database.pool.path)-wal") }

    /// The length of the database in bytes, without the log.
    package var fileBytes: Int { Self.length(ofFile: self.database.pool.path) }

    /// The bytes that this process may still write to the file system of the database; `nil` where the system does not
    /// report it.
    package var availableBytes: Int? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: self.database.pool.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
    }

    private static func length(ofFile path: String) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int ?? 0
    }

    /// Copies the log into the database and empties it, after long queries have ended within their budget.
    /// - Returns: The remaining length in bytes: above 0 while another process holds an old snapshot.
    package func foldLog() async throws -> Int {
        try await self.database.readers.whileIdle {
            try await self.database.pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA busy_timeout = \(Self.checkpointTimeout)")
                // If a snapshot is in use, the next call does it.
                _ = try? database.checkpoint(.truncate)
                try database.execute(sql: "PRAGMA busy_timeout = \(Self.timeout)")
            }
        }
        return self.logBytes
    }

    /// The numbers of long queries that run and that wait.
    package var queryCounts: (running: Int, waiting: Int) { self.database.readers.queryGate.counts }
}
