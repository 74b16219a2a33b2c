import Foundation
import GRDB

/// The log beside the database, into which everything is written first. It can be folded into the database only as far as
/// the oldest snapshot in use.
extension SQLiteStore {
    /// For how long a fold waits for snapshots that are not people's, in milliseconds.
    private static let foldPatience = 200
    private static let patience = 5000

    /// Length of the log, in bytes.
    package var logBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: "\(self.database.pool.path)-wal")
        return attributes?[.size] as? Int ?? 0
    }

    /// Folds the log into the database and empties it. People's long questions end first, within their budget, and no new
    /// one begins before.
    /// - Returns: the length that is left, in bytes: above 0 where another process holds an old snapshot.
    package func foldLog() async throws -> Int {
        try await self.database.readers.whileIdle {
            try await self.database.pool.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA busy_timeout = \(Self.foldPatience)")
                // Busy: the next time.
                _ = try? database.checkpoint(.truncate)
                try database.execute(sql: "PRAGMA busy_timeout = \(Self.patience)")
            }
        }
        return self.logBytes
    }

    /// People's long questions that are being answered, and those that wait for their turn.
    package var questions: (running: Int, waiting: Int) { self.database.readers.questions.counts }
}
