import Foundation
import ProviderModel
import PushTypes

/// A connection to the store's database, within a transaction or a read on one snapshot.
///
/// Its statements are the part of SQL that all engines understand. It is used on the thread that runs the transaction.
protocol SQLConnection: AnyObject {
    var attributes: AttributeColumns { get }

    /// Prepares a statement, or takes it from the cache of the connection.
    ///
    /// A kept statement is prepared again only when the rows of its last execution are no longer read: an engine may
    /// share one cursor.
    /// - Parameter isKept: Whether the statement is cached under its SQL. Pass `false` for SQL with many variants.
    func prepare(_ sql: String, isKept: Bool) throws -> any SQLStatement

    func hasTable(_ name: String) throws -> Bool

    /// Returns the columns of a table's primary key, in their order.
    func primaryKeyColumns(of table: String) throws -> [String]

    /// A Boolean value that indicates whether transactions that write run one after the other.
    var hasOneWriter: Bool { get }

    /// Locks rows until the end of the transaction, if others may write at the same time. What is read of them from
    /// now on stays true.
    func lock(_ strength: RowLock, _ table: String, where condition: String, _ arguments: SQLArguments) throws

    /// Locks the rows with these keys, in the order of the keys, as the other method does.
    func lock(_ strength: RowLock, _ table: String, _ column: String, _ keys: some Sequence<Int64>) throws

    /// Locks a row exclusively, unless another transaction has locked it.
    /// - Returns: Whether there is such a row, and it is locked now. If transactions write one after the other, `true`.
    func tryLock(_ table: String, where condition: String, _ arguments: SQLArguments) throws -> Bool

    /// Inserts rows of integers.
    /// - Returns: For each row, whether it was written.
    func insert(_ rows: IntegerRows, by insertion: IntegerInsertion) throws -> [Bool]

    /// Returns whether no further statement of the transaction can succeed after an error: the transaction has ended,
    /// or the disk or the connection has failed.
    func hasEnded(after error: any Error) -> Bool

    /// Runs one statement that writes and may fail without ending the transaction. A failed one leaves nothing behind. A
    /// conflict with another transaction ends this one as well, which is then repeated as a whole.
    /// - Throws: The error of `body`. Only ``hasEnded(after:)`` tells whether the transaction can go on.
    func attempt<Value>(_ body: () throws -> Value) throws -> Value
}

/// The strength of a lock on a row.
enum RowLock: Sendable {
    /// Other transactions may lock the row as well, and cannot change it.
    case shared
    case exclusive
}

extension SQLConnection {
    var hasOneWriter: Bool { true }
    func lock(_ strength: RowLock, _ table: String, where condition: String, _ arguments: SQLArguments) throws {}
    func lock(_ strength: RowLock, _ table: String, _ column: String, _ keys: some Sequence<Int64>) throws {}
    func tryLock(_ table: String, where condition: String, _ arguments: SQLArguments) throws -> Bool { true }
}

/// A prepared statement. Binding copies the value.
///
/// Positions of parameters begin at 1, and those of columns at 0. Binding a position that the statement lacks is an
/// error when it runs.
protocol SQLStatement {
    /// The names of the columns, which are known from the first row on.
    var columnNames: [String] { get }
    var parameterCount: Int { get }

    /// Returns the position of the parameter `:name`; `nil` if the statement has no such parameter.
    func position(of name: String) -> Int32?

    func bind(_ value: Int64, at position: Int32)
    func bind(_ value: Double, at position: Int32)
    /// Binds a string, which ends at its first NUL.
    func bind(_ text: String, at position: Int32)
    func bind(_ bytes: [UInt8], at position: Int32)
    func bind(_ bytes: Data, at position: Int32)
    func bindNull(at position: Int32)

    /// Runs a statement that returns no rows.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run() throws -> Int

    /// Moves to the next row. ``reset()`` is called after the last row that is needed.
    /// - Returns: `false` if there are no more rows.
    func step() throws -> Bool

    /// Ends the execution, so that the statement does not keep its connection in a transaction.
    func reset()

    // The columns of the current row.

    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) -> Int64
    func text(_ column: Int32) -> String?
    func bytes(_ column: Int32) -> [UInt8]
    func value(_ column: Int32) -> SQLValue
}

extension SQLStatement {
    func bind(_ value: Int64?, at position: Int32) {
        if let value { self.bind(value, at: position) } else { self.bindNull(at: position) }
    }

    func bind(_ text: String?, at position: Int32) {
        if let text { self.bind(text, at: position) } else { self.bindNull(at: position) }
    }

    func bind(_ bytes: Data?, at position: Int32) {
        if let bytes { self.bind(bytes, at: position) } else { self.bindNull(at: position) }
    }

    func bind(_ value: SQLValue, at position: Int32) {
        switch value {
        case .null: self.bindNull(at: position)
        case .integer(let number): self.bind(number, at: position)
        case .real(let number): self.bind(number, at: position)
        case .text(let text): self.bind(text, at: position)
        case .bytes(let bytes): self.bind(bytes, at: position)
        }
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

    /// Binds all parameters of the statement.
    /// - Throws: ``SQLArgumentError`` if arguments are missing or left over.
    func bind(_ arguments: SQLArguments) throws {
        guard arguments.values.count == self.parameterCount else { throw SQLArgumentError() }
        for (index, argument) in arguments.values.enumerated() {
            let position = argument.name.map(self.position(of:)) ?? Int32(index) + 1
            guard let position else { throw SQLArgumentError() }
            self.bind(argument.value, at: position)
        }
    }

    /// Returns the token in a column, or `nil` if the column contains no valid token.
    func token(_ column: Int32) -> DeviceToken? { DeviceToken(bytes: self.bytes(column)) }
}

/// The arguments of a statement, by position or by name.
struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, Sendable {
    /// The values, each with the name of its parameter, or `nil` if it is bound by its position among all values.
    fileprivate private(set) var values: [(name: String?, value: SQLValue)]

    init(_ values: [SQLValue]) { self.values = values.map { (nil, $0) } }

    init(arrayLiteral values: (any SQLEncodable)?...) { self.init(values.map { $0?.sqlValue ?? .null }) }

    init(dictionaryLiteral values: (String, (any SQLEncodable)?)...) {
        self.values = values.map { ($0, $1?.sqlValue ?? .null) }
    }

    static func += (arguments: inout SQLArguments, others: SQLArguments) { arguments.values += others.values }
}

/// The error of a statement that does not have exactly the parameters of its arguments, which is a fault of this code.
struct SQLArgumentError: Error {}

/// The error of a statement that violates a foreign key: a row refers to one that does not exist, or a row is deleted to
/// which others refer.
struct ForeignKeyViolation: Error {}

extension RowOwner? {
    /// Runs the insertion of a row of this owner.
    /// - Throws: ``StoreError/ownerRemoved(_:)`` if the insertion violates a foreign key, because the owner is missing.
    func inserting<Value>(_ insertion: () throws -> Value) throws -> Value {
        do {
            return try insertion()
        } catch let error as ForeignKeyViolation {
            throw self.map(StoreError.ownerRemoved) ?? error
        }
    }
}

/// The names of columns with the values to write to them.
struct ColumnValues: ExpressibleByDictionaryLiteral {
    fileprivate var names: [String]
    fileprivate var values: [SQLValue]

    init(dictionaryLiteral columns: (String, (any SQLEncodable)?)...) {
        (self.names, self.values) = (columns.map(\.0), columns.map { $1?.sqlValue ?? .null })
    }

    static func += (columns: inout ColumnValues, others: ColumnValues) {
        columns.names += others.names
        columns.values += others.values
    }

    fileprivate func insertion(into table: String) -> String {
        let places = self.names.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(self.names.joined(separator: ", "))) VALUES (\(places))"
    }
}

/// Shorthands for running statements. Prepared statements are cached on the connection, except with `isKept: false`.
extension SQLConnection {
    /// Prepares a statement that is cached on the connection.
    func prepare(_ sql: String) throws -> any SQLStatement { try self.prepare(sql, isKept: true) }

    private func prepare(_ sql: String, _ arguments: SQLArguments, isKept: Bool = true) throws -> any SQLStatement {
        let statement = try self.prepare(sql, isKept: isKept)
        try statement.bind(arguments)
        return statement
    }

    /// Runs a statement that returns no rows.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(sql: String, _ arguments: SQLArguments = []) throws -> Int { try self.prepare(sql, arguments).run() }

    /// Inserts a row.
    /// - Parameters:
    ///   - owner: The record to which the row belongs, if it may have been removed since it was looked up, or `nil` if
    ///     the transaction itself has found or written it.
    ///   - conflict: The `ON CONFLICT` clause for an existing row. If it is empty, an existing row is an error.
    /// - Throws: ``StoreError/ownerRemoved(_:)`` if the owner is missing.
    func insert(into table: String, of owner: RowOwner? = nil, _ columns: ColumnValues, _ conflict: String = "") throws
    {
        let sql = "\(columns.insertion(into: table)) \(conflict)"
        _ = try owner.inserting { try self.run(sql: sql, SQLArguments(columns.values)) }
    }

    /// Inserts a row. The owner and the errors are those of ``insert(into:of:_:_:)``.
    /// - Parameter column: The column whose value is returned, such as an id that the database assigns.
    func insert(
        into table: String,
        of owner: RowOwner? = nil,
        _ columns: ColumnValues,
        returning column: String
    ) throws -> Int64 {
        let sql = "\(columns.insertion(into: table)) RETURNING \(column)"
        let id = try owner.inserting { try self.integer(sql: sql, SQLArguments(columns.values)) }
        guard let id else { throw DamagedRow(table: table) }
        return id
    }

    /// Inserts a row, or writes its columns to the row with the same key. The owner and the errors are those of
    /// ``insert(into:of:_:_:)``.
    /// - Parameters:
    ///   - key: The columns of the table's primary key.
    ///   - columns: The other columns. A column that is left out keeps its value in an existing row.
    func replace(in table: String, of owner: RowOwner? = nil, key: ColumnValues, _ columns: ColumnValues) throws {
        let assignments = columns.names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let conflict = "ON CONFLICT (\(key.names.joined(separator: ", "))) DO UPDATE SET \(assignments)"
        var row = key
        row += columns
        try self.insert(into: table, of: owner, row, conflict)
    }

    func update(_ table: String, _ columns: ColumnValues, id: any SQLEncodable) throws {
        let assignments = columns.names.map { "\($0) = ?" }.joined(separator: ", ")
        let sql = "UPDATE \(table) SET \(assignments) WHERE id = ?"
        try self.run(sql: sql, SQLArguments(columns.values + [id.sqlValue]))
    }

    /// Returns a cursor over the rows of a query.
    func cursor(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> SQLRowCursor {
        SQLRowCursor(try self.prepare(sql, arguments, isKept: isKept))
    }

    /// Returns the first row of a query, or `nil` if the query returns no row.
    func row(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> SQLRow? {
        try self.cursor(sql: sql, arguments, isKept: isKept).next()
    }

    func rows(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> [SQLRow] {
        let cursor = try self.cursor(sql: sql, arguments, isKept: isKept)
        var rows: [SQLRow] = []
        while let row = try cursor.next() { rows.append(row) }
        return rows
    }

    func hasRow(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> Bool {
        let statement = try self.prepare(sql, arguments, isKept: isKept)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Returns the first column of a query's first row, or `nil` for NULL, or if the query returns no row.
    func value<Value: SQLDecodable>(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> Value? {
        let statement = try self.prepare(sql, arguments, isKept: isKept)
        defer { statement.reset() }
        return try statement.step() ? Value(statement.value(0)) : nil
    }

    /// Returns the first column of all rows of a query, without NULL and values of other types.
    func values<Value: SQLDecodable>(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> [Value]
    {
        let statement = try self.prepare(sql, arguments, isKept: isKept)
        defer { statement.reset() }
        var values: [Value] = []
        while try statement.step() { if let value = Value(statement.value(0)) { values.append(value) } }
        return values
    }

    func integer(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> Int64? {
        try self.value(sql: sql, arguments, isKept: isKept)
    }

    func time(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> Timestamp? {
        try self.value(sql: sql, arguments, isKept: isKept)
    }

    func integers(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> [Int64] {
        try self.values(sql: sql, arguments, isKept: isKept)
    }

    /// Returns the first column of a query's first row, or 0 for NULL, or if the query returns no row.
    func count(sql: String, _ arguments: SQLArguments = [], isKept: Bool = true) throws -> Int {
        try self.value(sql: sql, arguments, isKept: isKept) ?? 0
    }
}

extension SQLConnection {
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
        let statement = try self.prepare(sql)
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
        let statement = try self.prepare(sql)
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
    ///   - condition: The condition under which the row is inserted; `nil` inserts it always.
    ///   - clauses: The clauses `ON CONFLICT`, for an existing row, which is otherwise an error, and `RETURNING`.
    static func insertion(into table: String, if condition: String? = nil, _ clauses: String = "") -> String {
        let names = Self.allCases.map(\.stringValue).joined(separator: ", ")
        let places = Self.allCases.map(\.place).joined(separator: ", ")
        let row = condition.map { "SELECT \(places) WHERE \($0)" } ?? "VALUES (\(places))"
        return "INSERT INTO \(table) (\(names)) \(row) \(clauses)"
    }
}

/// An `INSERT` statement for many rows, all of whose columns are integers.
struct IntegerInsertion: Sendable {
    let table: String
    let columns: [String]
    /// The column that distinguishes the rows of one call.
    let key: String
    /// The clause `ON CONFLICT`.
    let clauses: String
    /// The statement for one row.
    let sql: String

    init<Column: CodingKey & CaseIterable & RawRepresentable<Int>>(
        _ type: Column.Type,
        into table: String,
        key: Column,
        _ clauses: String
    ) {
        (self.table, self.columns, self.key) = (table, type.allCases.map(\.stringValue), key.stringValue)
        (self.clauses, self.sql) = (clauses, type.insertion(into: table, clauses))
    }
}

/// Rows of integers, one after the other.
struct IntegerRows {
    private(set) var values: [Int64?] = []
    let width: Int

    init(_ insertion: IntegerInsertion, capacity: Int) {
        self.width = insertion.columns.count
        self.values.reserveCapacity(capacity * self.width)
    }

    var count: Int { self.values.count / self.width }

    func column(_ column: Int) -> [Int64?] {
        stride(from: column, to: self.values.count, by: self.width).map { self.values[$0] }
    }

    /// Adds a row, with a value for each column.
    mutating func append(_ row: Int64?...) { self.values += row }
}

extension SQLConnection {
    func insert(_ rows: IntegerRows, by insertion: IntegerInsertion) throws -> [Bool] {
        try self.insertEach(rows, by: insertion)
    }

    /// Inserts rows of integers one by one.
    func insertEach(_ rows: IntegerRows, by insertion: IntegerInsertion) throws -> [Bool] {
        let statement = try self.prepare(insertion.sql)
        return try stride(from: 0, to: rows.values.count, by: rows.width).map { start in
            for column in 0..<rows.width { statement.bind(rows.values[start + column], at: Int32(column) + 1) }
            return try statement.run() > 0
        }
    }
}

/// A prepared `INSERT` statement for one row. A column without a bound value is NULL.
struct RowInsertion<Column: RawRepresentable> where Column.RawValue == Int {
    private let statement: any SQLStatement

    init(_ sql: String, in database: any SQLConnection) throws { self.statement = try database.prepare(sql) }

    func bind(_ value: Int64?, to column: Column) { self.statement.bind(value, at: Self.position(column)) }
    func bind(_ text: String?, to column: Column) { self.statement.bind(text, at: Self.position(column)) }
    func bind(_ bytes: Data?, to column: Column) { self.statement.bind(bytes, at: Self.position(column)) }
    func bind(_ bytes: [UInt8], to column: Column) { self.statement.bind(bytes, at: Self.position(column)) }

    @discardableResult
    func run() throws -> Int { try self.statement.run() }

    /// Inserts the row.
    /// - Returns: The integer that the statement's `RETURNING` clause names.
    func id() throws -> Int64 {
        defer { self.statement.reset() }
        guard try self.statement.step() else { throw SQLArgumentError() }
        return self.statement.integer(0)
    }

    private static func position(_ column: Column) -> Int32 { Int32(column.rawValue) + 1 }
}
