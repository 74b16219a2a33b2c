import Foundation
import GRDB

/// The write-ahead log. A checkpoint copies it into the database only as far as the oldest snapshot in use.
extension SQLiteStore {
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

    /// Copies the log into the database and empties it, after readers have ended or renewed their snapshots.
    /// - Returns: `false` while another process holds an old snapshot.
    package func foldLog() async -> Bool { await self.database.log.fold(self.database.pool) }

    /// Copies a log that is long into the database, as ``foldLog()`` does, unless a snapshot prevented that a moment ago.
    package func foldLongLog() async { await self.database.log.foldFile(self.database.pool) }

    /// The numbers of times the log was folded, and that a snapshot prevented it.
    package var logFolds: (complete: Int, prevented: Int) { self.database.log.folds }

    /// The numbers of long queries that run and that wait.
    package var queryCounts: (running: Int, waiting: Int) { self.database.readers.queryCounts }
}
