import GRDB

extension SQLiteStore {
    /// Examines the database. Takes about a second per million deliveries.
    /// - Parameter isAtRest: whether no provider sends and ``recover(now:)`` has been called since one did.
    /// - Returns: the faults in words; empty for a sound database.
    package func checkIntegrity(isAtRest: Bool = false) async throws -> [String] {
        try await self.database.read { database in
            try Integrity.damage(in: database)
                + Integrity.brokenRules(in: database, isAtRest: isAtRest, masterKey: self.masterKey)
        }
    }
}
