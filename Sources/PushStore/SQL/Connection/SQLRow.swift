import Foundation
import ProviderModel
import PushTypes

/// A row that was read from the database.
struct SQLRow: Sendable {
    private let names: [String]
    private let values: [SQLValue]

    fileprivate init(_ statement: any SQLStatement, names: [String]) {
        self.names = names
        self.values = names.indices.map { statement.value(Int32($0)) }
    }

    /// Returns the value of a column; `nil` for NULL, for a stored value of another type, and for a missing column.
    subscript<Value: SQLDecodable>(column: String) -> Value? {
        self.names.firstIndex(of: column).flatMap { Value(self.values[$0]) }
    }

    func topic(_ column: String) -> Topic? { self[column] }
    func token(_ column: String) -> DeviceToken? { self[column] }
    func time(_ column: String) -> Timestamp? { self[column] }
    func uuid(_ column: String) -> UUID? { self[column] }
    func tokenKind(_ column: String) -> DeviceTokenKind? { self[column] }
    func environment(_ column: String) -> PushEnvironment? { self[column] }

    /// Returns the case of an enumeration whose raw value is in a column, or `nil` for NULL and for other values.
    func value<Value: RawRepresentable>(_ column: String) -> Value? where Value.RawValue: SQLDecodable {
        (self[column] as Value.RawValue?).flatMap(Value.init(rawValue:))
    }

    /// Decodes the row, or returns `nil` if it is damaged, so that one damaged row does not block the others.
    func readable<Value>(_ read: (SQLRow) throws -> Value) throws -> Value? { try unlessDamaged { try read(self) } }
}

/// Returns the result of `read`, or `nil` for a damaged row. Any other error is thrown, because it may have ended the
/// transaction.
func unlessDamaged<Value>(_ read: () throws -> Value?) throws -> Value? {
    do { return try read() } catch is DamagedRow { return nil }
}

/// The rows of a query, which are read one by one.
final class SQLRowCursor {
    private let statement: any SQLStatement
    private var names: [String]?

    init(_ statement: any SQLStatement) { self.statement = statement }

    deinit { self.statement.reset() }

    /// Reads the next row; `nil` if there are no more rows.
    func next() throws -> SQLRow? {
        guard try self.statement.step() else { return nil }
        // The columns are known from the first row on, because an engine may prepare the statement again for a table
        // that has changed.
        let names = self.names ?? self.statement.columnNames
        self.names = names
        return SQLRow(self.statement, names: names)
    }
}
