import Foundation
import GRDB
import PushSupport

/// The stored form of attributes: all of a device in one JSON text, and each in a row to be searched.
enum DeviceAttributes {
    /// Reads all attributes of a device.
    /// - Throws: ``DamagedRow`` if they cannot be read.
    static func read(_ text: String?) throws -> [String: JSONValue] {
        guard let text else { return [:] }
        guard let value = try? JSONValue(parsing: Data(text.utf8)), case .object(let members) = value
        else { throw DamagedRow(table: "device") }
        return members
    }

    /// Returns a value as it is searched for; `nil` for one that is neither a text, a number nor a truth value.
    static func stored(_ value: JSONValue) -> DatabaseValue? {
        switch value {
        case .string(let text): text.databaseValue
        case .integer(let number): number.databaseValue
        case .number(let number): number.databaseValue
        // A blob, so that it equals no number and no text.
        case .bool(let flag): Data([flag ? 1 : 0]).databaseValue
        case .null, .array, .object: nil
        }
    }
}
