#if PostgreSQL
import Foundation
import GRDB

/// The source or the target of a transfer, with its only connection. A failed transaction changes nothing.
protocol TransferDatabase: AnyObject {
    /// The name of the database in errors.
    var name: String { get }
    /// A Boolean value that indicates whether the database has no tables at all.
    var isEmpty: Bool { get throws }

    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value
    func write<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value

    /// Applies the missing migrations of the store.
    func migrate() throws
    /// Returns the names of the applied migrations, or an empty array for a database without a store.
    func migrations(in database: any SQLConnection) throws -> [String]

    /// Inserts rows, within a transaction.
    func insert(_ rows: [TransferRow], into table: TransferTable, in database: any SQLConnection) throws

    /// Returns the last number that the database has assigned in the identity column of a table, or `nil` if it has
    /// assigned none or does not remember it.
    func lastNumber(of table: TransferTable, in database: any SQLConnection) throws -> Int64?
    /// Lets the database assign only numbers above a number.
    func setLastNumber(_ number: Int64, of table: TransferTable, in database: any SQLConnection) throws

    /// Prepares the complete database for queries.
    func optimize() throws
}

/// A file of SQLite. It is created when it is first written.
final class SQLiteTransferDatabase: TransferDatabase {
    let name: String
    private let isReadOnly: Bool
    private var opened: DatabaseQueue?

    init(path: String, isReadOnly: Bool) { (self.name, self.isReadOnly) = (path, isReadOnly) }

    private var queue: DatabaseQueue {
        get throws {
            if let opened { return opened }
            if !self.isReadOnly, !self.exists { try SQLStore.make(self.name) }
            var configuration = Configuration()
            configuration.readonly = self.isReadOnly
            configuration.busyMode = .timeout(30)
            // The indexes over a million tokens, in which insertions are scattered, fit into 128 MB.
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -131072") }
            let queue = try DatabaseQueue(path: self.name, configuration: configuration)
            self.opened = queue
            return queue
        }
    }

    private var exists: Bool { FileManager.default.fileExists(atPath: self.name) }

    var isEmpty: Bool {
        get throws { try !self.exists || self.read { try $0.count(sql: "SELECT count(*) FROM sqlite_master") } == 0 }
    }

    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        try self.queue.read { try body($0) }
    }

    func write<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        try self.queue.write { try body($0) }
    }

    func migrate() throws { try SQLiteSchema.migrator.migrate(self.queue) }

    func migrations(in database: any SQLConnection) throws -> [String] { try SQLiteSchema.migrations(in: database) }

    func insert(_ rows: [TransferRow], into table: TransferTable, in database: any SQLConnection) throws {
        let columns = table.columns(database.attributes)
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let sql = "INSERT INTO \(table.name) (\(columns.joined(separator: ", "))) VALUES (\(places))"
        for row in rows { try database.run(sql: sql, SQLArguments(table.values(of: row, database.attributes))) }
    }

    func lastNumber(of table: TransferTable, in database: any SQLConnection) throws -> Int64? {
        try database.integer(sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name])
    }

    func setLastNumber(_ number: Int64, of table: TransferTable, in database: any SQLConnection) throws {
        try database.run(sql: "DELETE FROM sqlite_sequence WHERE name = ?", [table.name])
        // Other tables take the number after the highest one that they have.
        let sql = """
            INSERT INTO sqlite_sequence (name, seq)
            SELECT name, ?2 FROM sqlite_master WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%'
            """
        try database.run(sql: sql, [table.name, number])
    }

    func optimize() {}
}

/// A schema of PostgreSQL, which is the first one of the connection's search path.
final class PostgreSQLTransferDatabase: TransferDatabase {
    let name: String
    private let connection: PostgreSQLConnection

    /// Connects, and waits until no other transfer uses the schema.
    init(_ settings: PostgreSQLSettings) throws {
        self.name = settings.description
        self.connection = try PostgreSQLConnection(settings.forMaintenance, columns: PostgreSQLSchema.columns)
        // Batches are read along the index of the key, also while the server does not know how large the tables are.
        try self.connection.command(
            """
            SET enable_sort = off; SET enable_incremental_sort = off;
            SELECT pg_advisory_lock(hashtext('martlet transfer'), hashtext(current_schema()))
            """
        )
    }

    var isEmpty: Bool {
        get throws {
            let sql = "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"
            return try self.read { try $0.count(sql: sql) } == 0
        }
    }

    func read<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        try self.connection.transaction(.snapshot, body)
    }

    func write<Value>(_ body: (any SQLConnection) throws -> Value) throws -> Value {
        try self.connection.transaction(.readCommitted, body)
    }

    func migrate() throws { try PostgreSQLSchema.migrate(self.connection, name: self.name) }

    /// Returns the tables that ``migrate()`` would create in an empty schema, which stays empty.
    func plannedTables() throws -> [TransferTable] {
        struct Planned: Error { let tables: [TransferTable] }
        do {
            return try self.connection.transaction(.readCommitted) { database -> [TransferTable] in
                try PostgreSQLSchema.apply(to: self.connection, name: self.name)
                // The error takes the transaction back.
                throw Planned(tables: try TransferTable.all(in: database))
            }
        } catch let planned as Planned {
            return planned.tables
        }
    }

    func migrations(in database: any SQLConnection) throws -> [String] {
        try database.hasTable("migration") ? PostgreSQLSchema.applied(in: database) : []
    }

    func insert(_ rows: [TransferRow], into table: TransferTable, in database: any SQLConnection) throws {
        guard !rows.isEmpty else { return }
        // The signature, flags and the length of an extension; then rows; then a row of -1 columns.
        var bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        for row in rows { table.values(of: row, database.attributes).append(to: &bytes) }
        bytes.append(bigEndian: Int16(-1))
        let columns = table.columns(database.attributes).joined(separator: ", ")
        let sql = "COPY \(table.name) (\(columns)) FROM STDIN (FORMAT binary)"
        try self.connection.copy(PostgreSQLText(sql).sql, bytes)
    }

    func lastNumber(of table: TransferTable, in database: any SQLConnection) throws -> Int64? {
        let sql = "SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(?, ?) AS regclass))"
        return try database.integer(sql: sql, [table.name, table.identity])
    }

    func setLastNumber(_ number: Int64, of table: TransferTable, in database: any SQLConnection) throws {
        let sql = "SELECT setval(CAST(pg_get_serial_sequence(?, ?) AS regclass), ?)"
        _ = try database.integer(sql: sql, [table.name, table.identity, number])
    }

    /// Lets the server count what the tables have, without which it would plan slow queries.
    func optimize() throws {
        try self.connection.command("ANALYZE \(StoredTable.all.map(\.name).joined(separator: ", "))")
    }
}
#endif
