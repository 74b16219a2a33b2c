#if PostgreSQL
import Foundation
import GRDB
import PushSupport
import PushTypes

/// The copying of a whole store to another engine, while no provider uses either database.
///
/// Each batch of rows is one transaction with the key that it has reached, so that an interrupted transfer continues where
/// it was. At the end both databases are read again. Until they are found equal, the target has the table of
/// ``TransferMark``. The source is not changed.
package struct StoreTransfer: Sendable {
    package enum Direction: Sendable { case toPostgreSQL, toSQLite }

    /// The progress within a phase of a transfer.
    package struct Step: Sendable {
        package enum Phase: String, Sendable { case copying, reading, comparing }

        package let phase: Phase
        /// The table of the last batch.
        package let table: String
        package let rows: Int
        package let total: Int
        /// The number of rows per second since the phase began.
        package let rate: Double
    }

    /// A table with what both databases have of it at the end.
    package struct Table: Sendable {
        package let name: String
        package let source: TableSum
        /// The rows of the target, or `nil` if nothing was to be written.
        package let target: TableSum?

        package var isEqual: Bool { self.target == nil || self.target == self.source }
    }

    package typealias Report = @Sendable (Step) throws -> Void

    private let direction: Direction
    private let path: String
    private let settings: PostgreSQLSettings
    private let masterKey: MasterKey
    /// The maximum number of rows in a batch.
    var maximumRows = 5000

    /// - Parameters:
    ///   - path: The path of the database file of SQLite.
    ///   - address: The address of the database in PostgreSQL, whose search path may name the schema.
    ///   - masterKey: The key that opens the secrets of the source.
    /// - Throws: ``PostgreSQLAddressError``.
    package init(
        _ direction: Direction,
        sqlite path: String,
        postgreSQL address: String,
        masterKey: MasterKey
    ) throws {
        self.init(direction, sqlite: path, try PostgreSQLSettings(address), masterKey: masterKey)
    }

    init(_ direction: Direction, sqlite path: String, _ settings: PostgreSQLSettings, masterKey: MasterKey) {
        (self.direction, self.path, self.settings, self.masterKey) = (direction, path, settings, masterKey)
    }

    /// The name of the database that is written.
    package var targetName: String { self.direction == .toPostgreSQL ? self.settings.description : self.path }

    /// Copies all rows, and compares the databases. If they differ, the target stays unfinished.
    /// - Parameters:
    ///   - isDry: Whether the source is only read, and the tables of the target are created and taken back.
    ///   - report: A closure that is called after each batch. An error that it throws ends the transfer.
    /// - Throws: ``StoreTransferError``, ``StoreError``, or an error of a database.
    package func run(
        isDry: Bool = false,
        _ report: @escaping Report = { _ in }
    ) async throws -> [Table] {
        try await runBlocking {
            do {
                return try self.transfer(isDry: isDry, report)
            } catch let error as DatabaseError {
                throw StoreTransferError("\(self.path) cannot be used: \(error.reason)")
            }
        }
    }

    private func transfer(isDry: Bool, _ report: @escaping Report) throws -> [Table] {
        let postgreSQL = try PostgreSQLTransferDatabase(self.settings)
        let sqlite = SQLiteTransferDatabase(path: self.path, isReadOnly: isDry || self.direction == .toPostgreSQL)
        let (source, target): (any TransferDatabase, any TransferDatabase) =
            self.direction == .toPostgreSQL ? (sqlite, postgreSQL) : (postgreSQL, sqlite)
        let origin = try source.read { try self.origin(of: source, in: $0) }
        let isNew = try self.isNew(target, for: origin)
        if !isDry {
            if isNew { try target.write { try TransferProgress.create(for: origin, in: $0) } }
            try target.migrate()
        }
        let tables =
            isDry && self.direction == .toPostgreSQL
            ? try postgreSQL.plannedTables() : try postgreSQL.read { try TransferTable.all(in: $0) }
        let total = try source.read { database in
            try tables.reduce(0) { try $0 + database.count(sql: "SELECT count(*) FROM \($1.name)") }
        }
        guard !isDry else {
            var meter = TransferMeter(.reading, total: total, report)
            return try tables.map { Table(name: $0.name, source: try self.sum($0, source, &meter), target: nil) }
        }
        try self.copy(tables, from: source, to: target, total, report)
        var meter = TransferMeter(.comparing, total: 2 * total, report)
        let result = try tables.map { table in
            let sums = (try self.sum(table, source, &meter), try self.sum(table, target, &meter))
            return Table(name: table.name, source: sums.0, target: sums.1)
        }
        if result.allSatisfy(\.isEqual) { try target.write(TransferProgress.remove) }
        return result
    }

    /// Checks that the source is a store of this version whose secrets the master key opens.
    /// - Returns: A text by which the source is recognized.
    private func origin(of source: any TransferDatabase, in database: any SQLConnection) throws -> String {
        try TransferMark.check(database, path: source.name)
        let migrations = try source.migrations(in: database)
        guard migrations == PostgreSQLSchema.migrations.map(\.name) else {
            throw StoreTransferError(
                migrations.isEmpty
                    ? "\(source.name) has no store: there is nothing to copy"
                    : "\(source.name) was written by another version: let 'martlet serve' of this version open it once"
            )
        }
        let recent = SystemTime().now.advanced(by: .zero - NodeBeat.patience)
        let isInUse = "SELECT 1 FROM node WHERE endedAt IS NULL AND seenAt > ?"
        if try database.hasRow(sql: isInUse, [recent.milliseconds]) {
            throw StoreTransferError("a node uses \(source.name): stop all nodes, and try again after 20 seconds")
        }
        guard try SealedRows(database: database, masterKey: self.masterKey).areOpened() else {
            throw StoreError.wrongMasterKey
        }
        // The mark was sealed with a random number.
        let mark: Data? = try database.value(sql: "SELECT sealed FROM masterKeyMark")
        return mark?.base64EncodedString() ?? ""
    }

    /// Returns whether the target has nothing yet.
    /// - Throws: ``StoreTransferError`` if it has anything else than an unfinished copy of the source.
    private func isNew(_ target: any TransferDatabase, for origin: String) throws -> Bool {
        if try target.isEmpty { return true }
        switch try target.read(TransferProgress.origin) {
        case origin?: return false
        case nil: throw StoreTransferError("\(target.name) is not empty: name a new one, or remove what it has")
        case _?:
            let remedy = "remove it, or name a new one"
            throw StoreTransferError("\(target.name) is the unfinished copy of another store: \(remedy)")
        }
    }

    private func copy(
        _ tables: [TransferTable],
        from source: any TransferDatabase,
        to target: any TransferDatabase,
        _ total: Int,
        _ report: @escaping Report
    ) throws {
        var progress = try target.read(TransferProgress.init)
        var meter = TransferMeter(.copying, done: progress.rows, total: total, report)
        for table in tables {
            var reader = TransferReader(table, after: progress.keys[table.name], maximumRows: self.maximumRows)
            while !reader.isAtEnd {
                let isFirst = reader.position == nil
                let rows = try reader.next(in: source)
                guard isFirst || !rows.isEmpty else { continue }
                do {
                    try target.write { database in
                        // Migrations and triggers have written rows.
                        if isFirst { try database.run(sql: "DELETE FROM \(table.name)") }
                        try target.insert(rows, into: table, in: database)
                        try progress.add(rows.count, until: reader.position, of: table, in: database)
                    }
                } catch {
                    throw StoreTransferError("rows of \(table.name) cannot be copied: \(Self.text(error))")
                }
                try meter.add(rows.count, table)
            }
        }
        for table in tables { try self.continueNumbers(of: table, from: source, to: target) }
        try target.optimize()
    }

    /// Lets the target assign numbers after all that the source has ever assigned.
    private func continueNumbers(
        of table: TransferTable,
        from source: any TransferDatabase,
        to target: any TransferDatabase
    ) throws {
        guard let column = table.identity else { return }
        let last = try source.read { database in
            let highest = try database.integer(sql: "SELECT max(\(column)) FROM \(table.name)") ?? 0
            return max(highest, try source.lastNumber(of: table, in: database) ?? 0)
        }
        if last > 0 { try target.write { try target.setLastNumber(last, of: table, in: $0) } }
    }

    private func sum(
        _ table: TransferTable,
        _ database: any TransferDatabase,
        _ meter: inout TransferMeter
    ) throws -> TableSum {
        var reader = TransferReader(table, maximumRows: self.maximumRows)
        var sum = TableSum()
        while !reader.isAtEnd {
            let rows = try reader.next(in: database)
            for row in rows { sum.add(row) }
            try meter.add(rows.count, table)
        }
        return sum
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case let error as DatabaseError: error.reason
        case is ForeignKeyViolation: "one refers to a row that does not exist"
        default: "\(error)"
        }
    }
}

/// The error of a transfer that cannot begin or go on. Nothing is lost.
package struct StoreTransferError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
#endif
