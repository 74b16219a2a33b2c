import Foundation
import GRDB
import ProviderModel
import PushTypes

/// Access to the columns of a row as typed values. The value is `nil` for NULL and for a stored value of another type.
extension Row {
    func topic(_ column: String) -> Topic? { (self[column] as String?).flatMap { Topic($0) } }
    func token(_ column: String) -> DeviceToken? { (self[column] as Data?).flatMap { DeviceToken(bytes: Array($0)) } }
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }
    func uuid(_ column: String) -> UUID? { (self[column] as String?).flatMap(UUID.init(uuidString:)) }
    func tokenKind(_ column: String) -> DeviceTokenKind? { DeviceTokenKind(code: self[column] as Int64?) }
    func environment(_ column: String) -> PushEnvironment? { PushEnvironment(code: self[column] as Int64?) }

    /// Returns the case of an enumeration whose raw value is stored in a column; `nil` for NULL and for other values.
    func value<Value: RawRepresentable>(_ column: String) -> Value? where Value.RawValue: DatabaseValueConvertible {
        (self[column] as Value.RawValue?).flatMap(Value.init(rawValue:))
    }

    /// Decodes the row; `nil` if it is damaged, so that one damaged row does not block the others.
    func readable<Value>(_ read: (Row) throws -> Value) throws -> Value? {
        do { return try read(self) } catch is DamagedRow { return nil }
    }
}

/// The names of columns with the values to write to them.
struct ColumnValues: ExpressibleByDictionaryLiteral {
    fileprivate var names: [String]
    fileprivate var values: [(any DatabaseValueConvertible)?]

    init(dictionaryLiteral columns: (String, (any DatabaseValueConvertible)?)...) {
        (self.names, self.values) = (columns.map(\.0), columns.map(\.1))
    }

    static func += (columns: inout ColumnValues, others: ColumnValues) {
        columns.names += others.names
        columns.values += others.values
    }
}

/// Shorthands for running statements. Prepared statements are cached on the connection, except with `isKept: false`.
extension Database {
    /// Runs a statement, and returns the number of changed rows.
    @discardableResult
    func run(sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try self.cachedStatement(sql: sql).execute(arguments: arguments)
        return self.changesCount
    }

    /// Inserts a row.
    /// - Parameters:
    ///   - owner: The record to which the row belongs, if it may have been removed since it was looked up; `nil` if the
    ///     transaction itself has found or written it.
    ///   - conflict: The `ON CONFLICT` clause for an existing row. If it is empty, an existing row is an error.
    /// - Returns: The row id of the new row.
    /// - Throws: ``StoreError/ownerRemoved(_:)`` if the owner is missing.
    @discardableResult
    func insert(
        into table: String,
        of owner: RowOwner? = nil,
        _ columns: ColumnValues,
        _ conflict: String = ""
    ) throws -> Int64 {
        try self.run(Self.insertion("INSERT", table, columns, conflict), of: owner, columns)
        return self.lastInsertedRowID
    }

    /// Inserts a row, replacing any rows with the same unique keys. The owner and the errors are those of
    /// ``insert(into:of:_:_:)``.
    func replace(in table: String, of owner: RowOwner? = nil, _ columns: ColumnValues) throws {
        try self.run(Self.insertion("INSERT OR REPLACE", table, columns, ""), of: owner, columns)
    }

    private func run(_ insertion: String, of owner: RowOwner?, _ columns: ColumnValues) throws {
        let arguments = StatementArguments(columns.values)
        guard let owner else { return _ = try self.run(sql: insertion, arguments) }
        _ = try owner.inserting { try self.run(sql: insertion, arguments) }
    }

    private static func insertion(_ verb: String, _ table: String, _ columns: ColumnValues, _ conflict: String)
        -> String
    {
        let places = columns.names.map { _ in "?" }.joined(separator: ", ")
        return "\(verb) INTO \(table) (\(columns.names.joined(separator: ", "))) VALUES (\(places)) \(conflict)"
    }

    /// Updates columns of the row with the given id.
    func update(_ table: String, _ columns: ColumnValues, id: any DatabaseValueConvertible) throws {
        let assignments = columns.names.map { "\($0) = ?" }.joined(separator: ", ")
        let sql = "UPDATE \(table) SET \(assignments) WHERE id = ?"
        try self.run(sql: sql, StatementArguments(columns.values + [id]))
    }

    /// Returns the first row of a query; `nil` if the query returns no row.
    func row(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Row? {
        try Row.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    func rows(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> [Row] {
        try Row.fetchAll(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    func hasRow(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Bool {
        try self.row(sql: sql, arguments, isKept: isKept) != nil
    }

    /// Returns the first column of a query's first row; `nil` for NULL, or if the query returns no row.
    func integer(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Int64? {
        try Int64.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    /// Returns the first column of a query's first row as a time; `nil` for NULL, or if the query returns no row.
    func time(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Timestamp? {
        try self.integer(sql: sql, arguments, isKept: isKept).map(Timestamp.init(milliseconds:))
    }

    /// Returns the first column of all rows of a query.
    func integers(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> [Int64] {
        try Int64.fetchAll(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    /// Returns the first column of a query's first row; 0 for NULL, or if the query returns no row.
    func count(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Int {
        try Int.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments) ?? 0
    }

    private func statement(_ sql: String, isKept: Bool) throws -> Statement {
        try isKept ? self.cachedStatement(sql: sql) : self.makeStatement(sql: sql)
    }
}

extension RowOwner {
    /// Runs the insertion of a row of this owner.
    /// - Throws: ``StoreError/ownerRemoved(_:)`` if the insertion violates a foreign key, because the owner is missing.
    func inserting<Value>(_ insertion: () throws -> Value) throws -> Value {
        do {
            return try insertion()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY {
            throw StoreError.ownerRemoved(self)
        }
    }
}

extension DeviceToken {
    var databaseValue: DatabaseValue { Data(self.bytes).databaseValue }
}

extension ContentHash {
    var databaseValue: DatabaseValue { Data(self.bytes).databaseValue }
}

extension PushEnvironment? {
    var databaseValue: DatabaseValue { self?.code.databaseValue ?? .null }
}

extension PushEnvironment {
    /// The integer that encodes the environment in the database.
    var code: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Decodes a stored environment; `nil` for an unknown integer.
    init?(code: Int64?) {
        switch code {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}

extension HoldingEnvironments {
    /// The integer that encodes the environments in the database.
    var code: Int64 {
        switch self {
        case .one(let environment): environment.code
        case .all: 2
        }
    }

    /// Decodes a stored integer. Every integer that encodes no single environment stands for all.
    init(code: Int64) { self = PushEnvironment(code: code).map(Self.one) ?? .all }
}

extension DeviceTokenKind {
    /// The integer that encodes the kind of token in the database.
    var code: Int64 {
        switch self {
        case .alert: 0
        case .voip: 1
        case .complication: 2
        case .fileProvider: 3
        case .location: 4
        case .pushToTalk: 5
        case .liveActivityStart: 6
        case .liveActivityUpdate: 7
        case .widgets: 8
        case .controls: 9
        case .web: 10
        }
    }

    /// Decodes a stored kind of token; `nil` for an unknown integer.
    init?(code: Int64?) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}
