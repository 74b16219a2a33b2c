#if PostgreSQL
import PushSupport

/// A store in a database of PostgreSQL.
extension SQLStore {
    /// Connects to a database, and runs missing migrations.
    /// - Parameters:
    ///   - address: The address of the database (``PostgreSQLSettings/init(_:)``). Its search path, if it has one, names
    ///     the schema.
    ///   - limits: The limits on queries of the API.
    ///   - isShared: Whether other processes may use the database at the same time.
    ///   - isPooled: Whether a pooler gives each transaction another connection.
    /// - Throws: ``StoreError``, or ``PostgreSQLAddressError``. A database with a schema of another version is left
    ///   unchanged.
    package convenience init(
        postgreSQL address: String,
        masterKey: MasterKey,
        limits: QueryLimits = QueryLimits(),
        isShared: Bool = false,
        isPooled: Bool = false
    ) async throws {
        var settings = try PostgreSQLSettings(address)
        settings.namesStatements = !isPooled
        try await self.init(settings, masterKey: masterKey, limits: limits, isShared: isShared)
    }

    convenience init(
        _ settings: PostgreSQLSettings,
        masterKey: MasterKey,
        limits: QueryLimits = QueryLimits(),
        pool: PostgreSQLPool.Limits = PostgreSQLPool.Limits(),
        isShared: Bool = false
    ) async throws {
        do {
            try await runBlocking {
                let connection = try PostgreSQLConnection(settings.forMaintenance)
                try TransferMark.check(connection, path: settings.description)
                try PostgreSQLSchema.migrate(connection, name: settings.description)
            }
        } catch let error as PostgreSQLError where error.kind != .unavailable {
            throw StoreError.cannotOpen(path: settings.description, why: error.description)
        } catch {
            throw PostgreSQLDatabase.named(error)
        }
        let database = PostgreSQLDatabase(settings, pool: pool, limits: limits, isShared: isShared)
        do {
            // A wrong master key is detected now, and not with the first notification.
            try await database.write { try SealedRows(database: $0, masterKey: masterKey).checkMasterKey() }
        } catch {
            try await database.close()
            throw error
        }
        self.init(database: database, masterKey: masterKey)
    }
}
#endif
