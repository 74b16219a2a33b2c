import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The error of a row whose stored values cannot be decoded.
package struct DamagedRow: Error, CustomStringConvertible {
    package var table: String
    package var description: String { "a row of table \(self.table) is damaged" }
}

/// A record that is decoded from a row of its table.
protocol StoredRecord: Sendable {
    static var table: String { get }

    /// Decodes the record. Throws ``DamagedRow`` if a value is missing or has the wrong type.
    init(_ row: StoredRow) throws
}

extension StoredRecord {
    /// Decodes a record, together with its secret unless `masterKey` is `nil`.
    /// - Throws: ``DamagedRow`` if a row cannot be decoded.
    init(row: SQLRow, _ masterKey: MasterKey?) throws {
        try self.init(StoredRow(row: row, table: Self.table, masterKey: masterKey))
    }

    /// Decodes a record without its secret. Throws ``DamagedRow`` for a damaged row.
    init(row: SQLRow) throws { try self.init(row: row, nil) }

    /// Returns the record with an id, or `nil` if there is none. Its secret is left out if `masterKey` is `nil`.
    /// - Throws: ``DamagedRow`` if the record cannot be decoded.
    static func find(_ id: UUID, _ masterKey: MasterKey? = nil, in database: any SQLConnection) throws -> Self? {
        try database.record(sql: "SELECT * FROM \(Self.table) WHERE id = ?", [id.uuidString], masterKey)
    }
}

extension SQLConnection {
    /// Returns the record in the first row, or `nil` if there is none. Its secret is left out if `masterKey` is `nil`.
    /// - Throws: ``DamagedRow`` if the record cannot be decoded.
    func record<Record: StoredRecord>(
        sql: String,
        _ arguments: SQLArguments = [],
        _ masterKey: MasterKey? = nil
    ) throws -> Record? {
        try self.row(sql: sql, arguments).map { try Record(row: $0, masterKey) }
    }

    /// Returns the records in all rows, with their secrets unless `masterKey` is `nil`. Damaged rows are skipped.
    func records<Record: StoredRecord>(
        sql: String,
        _ arguments: SQLArguments = [],
        _ masterKey: MasterKey? = nil,
        isKept: Bool = true
    ) throws -> [Record] {
        let rows = try self.rows(sql: sql, arguments, isKept: isKept)
        return try rows.compactMap { try $0.readable { try Record(row: $0, masterKey) } }
    }
}

/// A row from which a ``StoredRecord`` is decoded.
struct StoredRow {
    let row: SQLRow
    let table: String
    /// The key that opens sealed columns, or `nil` to read sealed columns as `nil`.
    let masterKey: MasterKey?

    /// Returns the value of a column, or `nil` for NULL, and for a stored value of another type.
    subscript<Value: SQLDecodable>(column: String) -> Value? { self.row[column] }

    /// Returns the case of an enumeration whose raw value is in a column, or `nil` for NULL and for other values.
    subscript<Value: RawRepresentable>(raw column: String) -> Value? where Value.RawValue: SQLDecodable {
        (self[column] as Value.RawValue?).flatMap(Value.init(rawValue:))
    }

    /// Returns the value of a column that is never NULL in an intact row.
    /// - Throws: ``DamagedRow`` if there is no value of the type.
    func get<Value: SQLDecodable>(_ column: String) throws -> Value { try self.need(self[column]) }

    /// Returns the case of an enumeration whose raw value is stored in a column that is never NULL in an intact row.
    /// - Throws: ``DamagedRow`` if there is no such case.
    func get<Value: RawRepresentable>(raw column: String) throws -> Value where Value.RawValue: SQLDecodable {
        try self.need(self[raw: column])
    }

    /// Returns the value, or throws ``DamagedRow`` if it is `nil`.
    func need<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw DamagedRow(table: self.table) }
        return value
    }

    /// Returns the decrypted value of a sealed column, or `nil` for NULL and without a master key.
    /// - Throws: ``DamagedRow``, also for a secret that was sealed with another key or for another row.
    func open(_ column: String, for context: SecretContext) throws -> String? {
        guard let masterKey, let sealed: Data = self[column] else { return nil }
        return try self.need(try? masterKey.open(sealed, for: context))
    }

    /// The API key that the columns `key` and `keyName` identify, or `nil` if they identify none.
    var key: KeyReference? {
        guard let id: UUID = self["key"] else { return nil }
        return KeyReference(id: id, name: self["keyName"] ?? "")
    }
}

/// A column of JSON values. Decoded values are cached by their text, because every claim decodes the same row again.
final class JSONColumn<Value: StoredJSON>: Sendable {
    private let name: String
    private let known = SharedCache<Data, Value>(maximum: 1024)

    init(_ name: String) { self.name = name }

    /// Returns the value in the column of a row, or `nil` for NULL.
    /// - Throws: ``DamagedRow`` if the text does not encode a value of the type.
    func value(_ row: StoredRow) throws -> Value? {
        guard let text: Data = row[self.name] else { return nil }
        return try self.known.value(text) { try row.need(try? Value(stored: JSONValue(parsing: text))) }
    }
}
