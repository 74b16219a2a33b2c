import GRDB
import Synchronization

/// The owner of the leases that this process takes: a new one with every start.
final class LeaseOwner: Sendable {
    private let known = Mutex<Int64?>(nil)

    /// Returns the owner's number, which is on disk before it is used for the first time.
    func number(_ database: StoreDatabase) async throws -> Int64 {
        if let number = self.known.withLock({ $0 }) { return number }
        let added = try await database.write { database in
            // A number is never used again: of earlier owners only those with leases matter.
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
