import Foundation
import GRDB
import GRDBSQLite

extension Database: SQLConnection {
    var attributes: AttributeColumns { .ofAnyType }

    func prepare(_ sql: String, isKept: Bool) throws -> any SQLStatement {
        // The task of the caller runs the transaction. An interruption between two statements has no effect in SQLite.
        try Task.checkCancellation()
        let statement = try isKept ? self.cachedStatement(sql: sql) : self.makeStatement(sql: sql)
        return SQLitePreparedStatement(statement, of: self)
    }

    func hasTable(_ name: String) throws -> Bool { try self.tableExists(name) }

    func primaryKeyColumns(of table: String) throws -> [String] { try self.primaryKey(table).columns }

    func hasEnded(after error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return SQLiteDatabase.isOfDisk(error) || !self.isInsideTransaction
    }

    /// Runs `body`. SQLite undoes a failed statement without a savepoint.
    func attempt<Value>(_ body: () throws -> Value) throws -> Value { try body() }
}

/// A prepared statement that reads and binds values without GRDB's wrapper types, which cost more than SQLite itself.
struct SQLitePreparedStatement: SQLStatement {
    private let statement: SQLiteStatement
    /// The GRDB statement that owns ``statement`` and keeps it alive.
    private let owner: Statement
    private let database: Database

    init(_ owner: Statement, of database: Database) {
        (self.owner, self.statement, self.database) = (owner, owner.sqliteStatement, database)
        sqlite3_reset(self.statement)
        sqlite3_clear_bindings(self.statement)
    }

    var columnNames: [String] { self.owner.columnNames }

    var parameterCount: Int { Int(sqlite3_bind_parameter_count(self.statement)) }

    func position(of name: String) -> Int32? {
        let position = sqlite3_bind_parameter_index(self.statement, ":\(name)")
        return position > 0 ? position : nil
    }

    func bind(_ value: Int64, at position: Int32) { sqlite3_bind_int64(self.statement, position, value) }

    func bind(_ value: Double, at position: Int32) { sqlite3_bind_double(self.statement, position, value) }

    func bind(_ text: String, at position: Int32) {
        // SQLite copies the string, so it need not outlive this call.
        sqlite3_bind_text(self.statement, position, text, -1, Self.transient)
    }

    func bind(_ bytes: [UInt8], at position: Int32) {
        bytes.withUnsafeBytes { self.bind($0, at: position) }
    }

    func bind(_ bytes: Data, at position: Int32) {
        bytes.withUnsafeBytes { self.bind($0, at: position) }
    }

    private func bind(_ bytes: UnsafeRawBufferPointer, at position: Int32) {
        // A pointer to an empty buffer may be `nil`, for which SQLite would bind NULL.
        guard !bytes.isEmpty else { return _ = sqlite3_bind_zeroblob(self.statement, position, 0) }
        sqlite3_bind_blob(self.statement, position, bytes.baseAddress, Int32(clamping: bytes.count), Self.transient)
    }

    func bindNull(at position: Int32) { sqlite3_bind_null(self.statement, position) }

    @discardableResult
    func run() throws -> Int {
        defer { sqlite3_reset(self.statement) }
        let code = sqlite3_step(self.statement)
        guard code == SQLITE_DONE else { throw self.failed(code) }
        return Int(sqlite3_changes(self.database.sqliteConnection))
    }

    func step() throws -> Bool {
        switch sqlite3_step(self.statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw self.failed(code)
        }
    }

    func reset() { sqlite3_reset(self.statement) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.statement, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(self.statement, column) }

    func text(_ column: Int32) -> String? {
        guard let text = sqlite3_column_text(self.statement, column) else { return nil }
        let length = Int(sqlite3_column_bytes(self.statement, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] { Array(self.rawBytes(column)) }

    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(self.statement, column) {
        case SQLITE_INTEGER: .integer(self.integer(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(self.statement, column))
        case SQLITE_TEXT: .text(self.text(column) ?? "")
        case SQLITE_BLOB: .bytes(Data(self.rawBytes(column)))
        default: .null
        }
    }

    private func rawBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = sqlite3_column_blob(self.statement, column) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.statement, column)))
    }

    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func failed(_ code: Int32) -> any Error {
        let message = self.database.lastErrorMessage
        let error = DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: self.owner.sql)
        // SQLite rolls the transaction back if the disk is full. GRDB notices that only in a statement of its own.
        if !self.database.isInsideTransaction { try? self.database.execute(sql: "ROLLBACK") }
        return error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY ? ForeignKeyViolation() : error
    }
}
