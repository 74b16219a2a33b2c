extension SQLiteStore {
    /// Returns the names of the migrations that the database has seen, in their order.
    package func migrations() async throws -> [String] {
        try await self.database.lookup { try SQLiteSchema.migrations(in: $0) }
    }
}
