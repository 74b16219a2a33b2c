import GRDB

/// The tables of the provider's database, and the numbered migrations that create them.
///
/// Version 0.1.0 begins with one migration. Each later change is a new migration. Released migrations never change.
enum SQLiteSchema {
    /// The name of the first migration in versions before 0.1.0. No released version has it.
    private static let unreleased = "1 apps, devices, keys"

    /// The migrator that applies the missing migrations, each in a transaction. Extensions contain the statements.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 initial schema") { database in
            for sql in Self.initial { try database.execute(sql: sql) }
        }
        for (identifier, sql) in [Self.from2, Self.from10, Self.from17].joined() {
            migrator.registerMigration(identifier) { try $0.execute(sql: sql) }
        }
        for (identifier, sql) in Self.from29 {
            migrator.registerMigration(identifier, foreignKeyChecks: .immediate) { try $0.execute(sql: sql) }
        }
        return migrator
    }

    /// Checks that this version knows all migrations that were applied to the database. It writes nothing.
    /// - Throws: ``StoreError/unreleasedSchema(path:migration:)``, ``StoreError/newerSchema(path:)``.
    static func check(_ database: Database, path: String) throws {
        let applied = try Self.migrations(in: database)
        if applied.contains(Self.unreleased) {
            throw StoreError.unreleasedSchema(path: path, migration: applied.last ?? Self.unreleased)
        }
        guard applied.allSatisfy(Self.migrator.migrations.contains) else { throw StoreError.newerSchema(path: path) }
    }

    /// Returns the names of the applied migrations, in the order of their application, or an empty list for a new file.
    static func migrations(in database: Database) throws -> [String] {
        guard try database.tableExists("grdb_migrations") else { return [] }
        return try String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }
}
