import Foundation
import GRDB
import GRDBSQLite
import PushTypes

/// A prepared statement that reads and binds values without GRDB's wrapper types, which cost more than SQLite itself.
struct RawStatement {
    private let statement: SQLiteStatement
    /// The GRDB statement that owns ``statement`` and keeps it alive.
    private let owner: Statement
    private let database: Database

    /// Prepares a statement, or takes it from the cache of the connection.
    /// - Parameter isKept: Whether the statement is cached under its SQL. Pass `false` for SQL with many variants.
    init(sql: String, isKept: Bool = true, in database: Database) throws {
        self.owner = try isKept ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
        self.statement = self.owner.sqliteStatement
        self.database = database
        sqlite3_reset(self.statement)
        sqlite3_clear_bindings(self.statement)
    }

    // Positions begin at 1, as in SQL. Binding a position that the statement lacks is an error when it runs.

    func bind(_ value: Int64, at position: Int32) { sqlite3_bind_int64(self.statement, position, value) }

    func bind(_ value: Int64?, at position: Int32) {
        if let value { self.bind(value, at: position) } else { self.bindNull(at: position) }
    }

    /// Binds integers at the first positions of a new statement. A `nil` leaves its position NULL.
    func bind(
        _ first: Int64,
        _ second: Int64?,
        _ third: Int64? = nil,
        _ fourth: Int64? = nil,
        _ fifth: Int64? = nil,
        _ sixth: Int64? = nil
    ) {
        self.bind(first, at: 1)
        if let second { self.bind(second, at: 2) }
        if let third { self.bind(third, at: 3) }
        if let fourth { self.bind(fourth, at: 4) }
        if let fifth { self.bind(fifth, at: 5) }
        if let sixth { self.bind(sixth, at: 6) }
    }

    /// Binds a string up to its first NUL character, as GRDB does, or binds NULL for `nil`.
    func bind(_ text: String?, at position: Int32) {
        guard let text else { return self.bindNull(at: position) }
        // SQLite copies the string, so it need not outlive this call.
        sqlite3_bind_text(self.statement, position, text, -1, Self.transient)
    }

    func bind(_ bytes: [UInt8], at position: Int32) {
        sqlite3_bind_blob(self.statement, position, bytes, Int32(clamping: bytes.count), Self.transient)
    }

    func bind(_ bytes: Data?, at position: Int32) {
        guard let bytes else { return self.bindNull(at: position) }
        // A pointer to an empty array may be `nil`, for which SQLite would bind NULL.
        guard !bytes.isEmpty else { return _ = sqlite3_bind_zeroblob(self.statement, position, 0) }
        bytes.withUnsafeBytes {
            _ = sqlite3_bind_blob(self.statement, position, $0.baseAddress, Int32(clamping: $0.count), Self.transient)
        }
    }

    func bind(_ value: DatabaseValue, at position: Int32) {
        switch value.storage {
        case .null: self.bindNull(at: position)
        case .int64(let number): self.bind(number, at: position)
        case .double(let number): sqlite3_bind_double(self.statement, position, number)
        case .string(let text): self.bind(text, at: position)
        case .blob(let data): self.bind(Array(data), at: position)
        }
    }

    func bindNull(at position: Int32) { sqlite3_bind_null(self.statement, position) }

    /// Runs a statement that returns no rows.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run() throws -> Int {
        defer { sqlite3_reset(self.statement) }
        let code = sqlite3_step(self.statement)
        guard code == SQLITE_DONE else { throw self.failed(code) }
        return Int(sqlite3_changes(self.database.sqliteConnection))
    }

    /// Steps to the next row. Call ``reset()`` after the last row that is needed.
    /// - Returns: Whether there is a next row.
    func step() throws -> Bool {
        switch sqlite3_step(self.statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw self.failed(code)
        }
    }

    /// Resets the statement, so that it does not keep its connection in a read transaction.
    func reset() { sqlite3_reset(self.statement) }

    // The columns of the current row. Their indices begin at 0.

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(self.statement, column) }

    func text(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(self.statement, column) else { return nil }
        let length = Int(sqlite3_column_bytes(self.statement, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(self.statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.statement, column))))
    }

    /// Returns the token in a column, or `nil` if the column contains no valid token.
    func token(_ column: Int32) -> DeviceToken? { DeviceToken(bytes: self.bytes(column)) }

    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func failed(_ code: Int32) -> DatabaseError {
        let error = DatabaseError(resultCode: ResultCode(rawValue: code), message: self.database.lastErrorMessage)
        // SQLite rolls the transaction back if the disk is full. GRDB notices that only in a statement of its own.
        if !self.database.isInsideTransaction { try? self.database.execute(sql: "ROLLBACK") }
        return error
    }
}

extension Database {
    /// Runs a statement that returns no rows.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(
        sql: String,
        _ first: Int64,
        _ second: Int64? = nil,
        _ third: Int64? = nil,
        _ fourth: Int64? = nil,
        _ fifth: Int64? = nil
    ) throws -> Int {
        let statement = try RawStatement(sql: sql, in: self)
        statement.bind(first, second, third, fourth, fifth)
        return try statement.run()
    }

    func hasRow(
        sql: String,
        _ first: Int64,
        _ second: Int64? = nil,
        _ third: Int64? = nil,
        _ fourth: Int64? = nil
    ) throws -> Bool {
        let statement = try RawStatement(sql: sql, in: self)
        defer { statement.reset() }
        statement.bind(first, second, third, fourth)
        return try statement.step()
    }
}

/// An enumeration of the columns of a prepared `INSERT`, so that values are bound by column and not by position.
extension CaseIterable where Self: CodingKey, Self: RawRepresentable, Self.RawValue == Int {
    /// The placeholder for the column's value in the statement, such as `?1`.
    var place: String { "?\(self.rawValue + 1)" }

    /// Returns an `INSERT` statement for all columns of the enumeration.
    /// - Parameters:
    ///   - condition: The condition under which the row is inserted, or `nil` to insert it always.
    ///   - conflict: The `ON CONFLICT` clause for an existing row. If it is empty, an existing row is an error.
    static func insertion(into table: String, if condition: String? = nil, _ conflict: String = "") -> String {
        let names = Self.allCases.map(\.stringValue).joined(separator: ", ")
        let places = Self.allCases.map(\.place).joined(separator: ", ")
        let row = condition.map { "SELECT \(places) WHERE \($0)" } ?? "VALUES (\(places))"
        return "INSERT INTO \(table) (\(names)) \(row) \(conflict)"
    }
}

/// A prepared `INSERT` statement for one row. A column without a bound value is NULL.
struct RowInsertion<Column: RawRepresentable> where Column.RawValue == Int {
    private let statement: RawStatement

    init(_ sql: String, in database: Database) throws { self.statement = try RawStatement(sql: sql, in: database) }

    func bind(_ value: Int64?, to column: Column) { self.statement.bind(value, at: Self.position(column)) }
    func bind(_ text: String?, to column: Column) { self.statement.bind(text, at: Self.position(column)) }
    func bind(_ bytes: Data?, to column: Column) { self.statement.bind(bytes, at: Self.position(column)) }
    func bind(_ bytes: [UInt8], to column: Column) { self.statement.bind(bytes, at: Self.position(column)) }

    @discardableResult
    func run() throws -> Int { try self.statement.run() }

    private static func position(_ column: Column) -> Int32 { Int32(column.rawValue) + 1 }
}
