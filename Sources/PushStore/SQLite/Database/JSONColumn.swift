import Foundation
import GRDB
import PushSupport

/// A column of JSON values. Each text is decoded once: a row is read again with every claim.
final class JSONColumn<Value: StoredJSON>: Sendable {
    private let table, name: String
    private let known = SharedCache<Data, Value>(maximum: 1024)

    init(_ table: String, _ name: String) { (self.table, self.name) = (table, name) }

    /// Returns the value of a row; `nil` for NULL.
    /// - Throws: ``DamagedRow`` for what is not such a value.
    func value(_ row: Row) throws -> Value? {
        guard let text = row[self.name] as Data? else { return nil }
        return try self.known.value(text) {
            guard let value = try? Value(stored: JSONValue(parsing: text)) else { throw DamagedRow(table: self.table) }
            return value
        }
    }
}
