import Foundation
import GRDB
import ProviderModel
import PushTypes

/// Access to columns as typed values; `nil` for NULL and for values of other types.
extension Row {
    func topic(_ column: String) -> Topic? { (self[column] as String?).flatMap { Topic($0) } }
    func token(_ column: String) -> DeviceToken? { (self[column] as Data?).flatMap { DeviceToken(bytes: Array($0)) } }
    func time(_ column: String) -> Timestamp? { (self[column] as Int64?).map(Timestamp.init(milliseconds:)) }
    func uuid(_ column: String) -> UUID? { (self[column] as String?).flatMap(UUID.init(uuidString:)) }
    func tokenKind(_ column: String) -> DeviceTokenKind? { DeviceTokenKind(code: self[column] as Int64?) }
    func environment(_ column: String) -> PushEnvironment? { PushEnvironment(code: self[column] as Int64?) }

    /// Returns the value of an enumeration by its raw value.
    func value<Value: RawRepresentable>(_ column: String) -> Value? where Value.RawValue: DatabaseValueConvertible {
        (self[column] as Value.RawValue?).flatMap(Value.init(rawValue:))
    }

    /// Reads the row; `nil` for a damaged row, which must not block the others.
    func readable<Value>(_ read: (Row) throws -> Value) throws -> Value? {
        do { return try read(self) } catch is DamagedRow { return nil }
    }
}

/// Columns of a row with their values.
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

/// Helpers for statements. A statement is cached on its connection unless its text has many variants.
extension Database {
    /// Runs a statement that returns no rows.
    /// - Returns: The number of changed rows.
    @discardableResult
    func run(sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try self.cachedStatement(sql: sql).execute(arguments: arguments)
        return self.changesCount
    }

    /// Adds a row.
    /// - Parameter conflict: The `ON CONFLICT` clause for a row that exists already. If it is empty, such a row is an
    ///   error.
    /// - Returns: The row id of the new row.
    @discardableResult
    func insert(into table: String, _ columns: ColumnValues, _ conflict: String = "") throws -> Int64 {
        try self.run(sql: Self.insertion("INSERT", table, columns, conflict), StatementArguments(columns.values))
        return self.lastInsertedRowID
    }

    /// Adds a row, or replaces the rows with the same keys.
    func replace(in table: String, _ columns: ColumnValues) throws {
        let sql = Self.insertion("INSERT OR REPLACE", table, columns, "")
        try self.run(sql: sql, StatementArguments(columns.values))
    }

    private static func insertion(_ verb: String, _ table: String, _ columns: ColumnValues, _ conflict: String)
        -> String
    {
        let places = columns.names.map { _ in "?" }.joined(separator: ", ")
        return "\(verb) INTO \(table) (\(columns.names.joined(separator: ", "))) VALUES (\(places)) \(conflict)"
    }

    /// Changes columns of the row with an id.
    func update(_ table: String, _ columns: ColumnValues, id: any DatabaseValueConvertible) throws {
        let assignments = columns.names.map { "\($0) = ?" }.joined(separator: ", ")
        let sql = "UPDATE \(table) SET \(assignments) WHERE id = ?"
        try self.run(sql: sql, StatementArguments(columns.values + [id]))
    }

    /// Returns the first row; `nil` if there is none.
    func row(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Row? {
        try Row.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    func rows(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> [Row] {
        try Row.fetchAll(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    func hasRow(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Bool {
        try self.row(sql: sql, arguments, isKept: isKept) != nil
    }

    /// Returns the first column of the first row; `nil` for NULL, or without a row.
    func integer(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Int64? {
        try Int64.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    /// Returns the first column of the first row as a time; `nil` for NULL, or without a row.
    func time(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Timestamp? {
        try self.integer(sql: sql, arguments, isKept: isKept).map(Timestamp.init(milliseconds:))
    }

    /// Returns the first column of all rows.
    func integers(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> [Int64] {
        try Int64.fetchAll(self.statement(sql, isKept: isKept), arguments: arguments)
    }

    /// Returns the first column of the first row; 0 for NULL, or without a row.
    func count(sql: String, _ arguments: StatementArguments = [], isKept: Bool = true) throws -> Int {
        try Int.fetchOne(self.statement(sql, isKept: isKept), arguments: arguments) ?? 0
    }

    private func statement(_ sql: String, isKept: Bool) throws -> Statement {
        try isKept ? self.cachedStatement(sql: sql) : self.makeStatement(sql: sql)
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
    /// The number that represents the environment in the database.
    var code: Int64 {
        switch self {
        case .production: 0
        case .sandbox: 1
        }
    }

    /// Returns a stored environment; `nil` for any other number.
    init?(code: Int64?) {
        switch code {
        case 0: self = .production
        case 1: self = .sandbox
        default: return nil
        }
    }
}

extension HoldingEnvironments {
    /// The number that represents the environments in the database.
    var code: Int64 {
        switch self {
        case .one(let environment): environment.code
        case .all: 2
        }
    }

    /// Creates the value that a stored number represents.
    init(code: Int64) { self = PushEnvironment(code: code).map(Self.one) ?? .all }
}

extension DeviceTokenKind {
    /// The number that represents the kind in the database.
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

    /// Returns a stored kind; `nil` for any other number.
    init?(code: Int64?) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}
