import Foundation
import PushSupport

/// The columns of `deviceAttribute` in which an engine stores the value of an attribute.
///
/// A string is compared with strings only, a number with numbers only, and a Boolean with Booleans only. SQLite keeps the
/// column of any type that released databases have: another form would rewrite all rows of every database, which may be
/// many millions, and would make them unreadable for earlier versions. No other engine has such a column.
enum AttributeColumns: Sendable {
    /// The column `value`, whose values have types of their own: text, integer or real. A Boolean is a blob, so that it
    /// equals neither a number nor a string.
    case ofAnyType
    /// The columns `text`, `number`, a double, and `flag`, 0 or 1. Two of them are NULL.
    case ofOneTypeEach

    var names: [String] {
        switch self {
        case .ofAnyType: ["value"]
        case .ofOneTypeEach: ["text", "number", "flag"]
        }
    }

    /// Returns the column for a value and its stored form, or `nil` if it is neither a string nor a number nor a
    /// Boolean.
    func stored(_ value: JSONValue) -> (column: String, value: SQLValue)? {
        switch (self, value) {
        case (.ofAnyType, .string(let text)): ("value", text.sqlValue)
        case (.ofAnyType, .integer(let number)): ("value", number.sqlValue)
        case (.ofAnyType, .number(let number)): ("value", number.sqlValue)
        case (.ofAnyType, .bool(let flag)): ("value", Data([flag ? 1 : 0]).sqlValue)
        case (.ofOneTypeEach, .string(let text)): ("text", text.sqlValue)
        case (.ofOneTypeEach, .integer(let number)): ("number", Double(number).sqlValue)
        case (.ofOneTypeEach, .number(let number)): ("number", number.sqlValue)
        case (.ofOneTypeEach, .bool(let flag)): ("flag", flag.sqlValue)
        case (_, .null), (_, .array), (_, .object): nil
        }
    }

    /// Returns the SQL condition that a row's value compares to another one, which is bound to the only parameter.
    /// - Parameter sign: The SQL operator of the comparison.
    func condition(on value: JSONValue, _ sign: String) -> (sql: String, argument: SQLValue) {
        guard let stored = self.stored(value) else { return ("? = 0 AND FALSE", 0.sqlValue) }
        let comparison = "\(stored.column) \(sign) ?"
        guard self == .ofAnyType else { return (comparison, stored.value) }
        // SQLite orders every number before all strings, and every string before all blobs.
        let types =
            switch stored.value {
            case .integer, .real: "IN ('integer', 'real')"
            case .text: "= 'text'"
            case .bytes, .null: "= 'blob'"
            }
        return ("\(comparison) AND typeof(value) \(types)", stored.value)
    }
}
