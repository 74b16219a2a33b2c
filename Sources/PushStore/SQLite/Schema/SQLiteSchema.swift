import GRDB

/// The tables of the provider's database, and the numbered migrations that make them.
///
/// Version 0.1.0 begins with one migration. A later change of the tables is a migration of its own: what a released
/// version has made is never described anew.
enum SQLiteSchema {
    /// The identifier of the first migration that versions before 0.1.0 ran: no released version has it.
    private static let unreleased = "1 apps, devices, keys"

    /// Runs what a database lacks, one transaction each.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 initial schema") { database in
            for sql in [Self.apps, Self.devices, Self.notifications, Self.deliveries, Self.events, Self.administration]
            {
                try database.execute(sql: sql)
            }
        }
        migrator.registerMigration("2 token kinds") { try $0.execute(sql: Self.tokenKinds) }
        migrator.registerMigration("3 environment pauses") { try $0.execute(sql: Self.environmentPauses) }
        migrator.registerMigration("4 names and expiry") { try $0.execute(sql: Self.namesAndExpiry) }
        migrator.registerMigration("5 keys per app") { try $0.execute(sql: Self.keysPerApp) }
        migrator.registerMigration("6 announcements") { try $0.execute(sql: Self.announcements) }
        migrator.registerMigration("7 unknown") { try $0.execute(sql: Self.unknown) }
        migrator.registerMigration("8 receipts") { try $0.execute(sql: Self.receipts) }
        migrator.registerMigration("9 preferences") { try $0.execute(sql: Self.preferences) }
        migrator.registerMigration("10 timeline") { try $0.execute(sql: Self.timeline) }
        migrator.registerMigration("11 skip counts") { try $0.execute(sql: Self.skipCounts) }
        migrator.registerMigration("12 people") { try $0.execute(sql: Self.people) }
        migrator.registerMigration("13 library") { try $0.execute(sql: Self.library) }
        migrator.registerMigration("14 publishing") { try $0.execute(sql: Self.publishing) }
        migrator.registerMigration("15 entitlement") { try $0.execute(sql: Self.entitlement) }
        migrator.registerMigration("16 statistics") { try $0.execute(sql: Self.statistics) }
        migrator.registerMigration("17 subscriptions") { try $0.execute(sql: Self.subscriptions) }
        migrator.registerMigration("18 bridges") { try $0.execute(sql: Self.bridges) }
        migrator.registerMigration("19 XMPP nodes") { try $0.execute(sql: Self.xmppNodes) }
        migrator.registerMigration("20 web push") { try $0.execute(sql: Self.webPush) }
        migrator.registerMigration("21 chat sessions") { try $0.execute(sql: Self.chatSessions) }
        migrator.registerMigration("22 legacy") { try $0.execute(sql: Self.legacy) }
        migrator.registerMigration("23 channels") { try $0.execute(sql: Self.channels) }
        migrator.registerMigration("24 shadow") { try $0.execute(sql: Self.shadow) }
        migrator.registerMigration("25 SCRAM") { try $0.execute(sql: Self.scram) }
        migrator.registerMigration("26 device users") { try $0.execute(sql: Self.deviceUsers) }
        migrator.registerMigration("27 gateway cursor") { try $0.execute(sql: Self.gatewayCursor) }
        migrator.registerMigration("28 push resource origins") { try $0.execute(sql: Self.pushResourceOrigins) }
        // From here on, one that makes no table anew checks what it writes: a check of all tables at its end would read them all.
        migrator.registerMigration("29 bridge numbers", foreignKeyChecks: .immediate) {
            try $0.execute(sql: Self.bridgeNumbers)
        }
        migrator.registerMigration("30 erasure requests", foreignKeyChecks: .immediate) {
            try $0.execute(sql: Self.erasureRequests)
        }
        migrator.registerMigration("31 time blocks", foreignKeyChecks: .immediate) {
            try $0.execute(sql: Self.timeBlocks)
        }
        migrator.registerMigration("32 file usage", foreignKeyChecks: .immediate) {
            try $0.execute(sql: Self.fileUsage)
        }
        migrator.registerMigration("33 user changes", foreignKeyChecks: .immediate) {
            try $0.execute(sql: Self.userChanges)
        }
        return migrator
    }

    /// Checks that this version knows every migration that the database has seen. Changes nothing.
    /// - Throws: ``StoreError/unreleasedSchema(path:migration:)``, ``StoreError/newerSchema(path:)``.
    static func check(_ database: Database, path: String) throws {
        let applied = try Self.migrations(in: database)
        if applied.contains(Self.unreleased) {
            throw StoreError.unreleasedSchema(path: path, migration: applied.last ?? Self.unreleased)
        }
        guard applied.allSatisfy(Self.migrator.migrations.contains) else { throw StoreError.newerSchema(path: path) }
    }

    /// Returns the identifiers of the migrations that the database has seen, in their order; empty for a new file.
    static func migrations(in database: Database) throws -> [String] {
        guard try database.tableExists("grdb_migrations") else { return [] }
        return try String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
    }
}
