import Foundation
import PushSupport

/// Looking into an answer.
extension JSONValue {
    /// The member `name`; `null` if there is none.
    subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// Of whole numbers too.
    var numberValue: Double? {
        if case .number(let value) = self { value } else { self.integerValue.map(Double.init) }
    }

    var elements: [JSONValue] {
        if case .array(let values) = self { values } else { [] }
    }

    /// One line of JSON.
    var line: String {
        get throws { String(decoding: try self.text, as: UTF8.self) }
    }
}
