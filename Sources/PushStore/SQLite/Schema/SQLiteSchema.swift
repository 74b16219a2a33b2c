import GRDB

/// The application of the store's migrations (``SQLSchema``) to a file of SQLite.
enum SQLiteSchema {
    /// The name of the first migration in versions before 0.1.0. No released version has it.
    private static let unreleased = "1 apps, devices, keys"

    /// The migrator that applies the missing migrations, each in a transaction.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 initial schema") { database in
            for sql in SQLSchema.initial { try database.execute(sql: sql) }
        }
        for (identifier, sql) in [SQLSchema.from2, SQLSchema.from10, SQLSchema.from17].joined() {
            migrator.registerMigration(identifier) { try $0.execute(sql: sql) }
        }
        for (identifier, sql) in SQLSchema.from29 {
            migrator.registerMigration(identifier, foreignKeyChecks: .immediate) { try $0.execute(sql: sql) }
        }
        return migrator
    }

    /// Checks that this version knows all migrations that were applied to the database, and that the database is no
    /// unfinished copy of another one. It writes nothing.
    /// - Throws: ``StoreError/unreleasedSchema(path:migration:)``, ``StoreError/newerSchema(path:)``,
    ///   ``StoreError/cannotOpen(path:why:)``.
    static func check(_ database: any SQLConnection, path: String) throws {
        try TransferMark.check(database, path: path)
        let applied = try Self.migrations(in: database)
        if applied.contains(Self.unreleased) {
            throw StoreError.unreleasedSchema(path: path, migration: applied.last ?? Self.unreleased)
        }
        guard applied.allSatisfy(Self.migrator.migrations.contains) else { throw StoreError.newerSchema(path: path) }
    }

    /// Returns the names of the applied migrations, in the order of their application, or an empty list for a new file.
    static func migrations(in database: any SQLConnection) throws -> [String] {
        guard try database.hasTable("grdb_migrations") else { return [] }
        return try database.values(sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }
}
