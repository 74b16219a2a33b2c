import Foundation
package import PushSupport

/// The ways in which commands read and write JSON.
extension JSONValue {
    /// The member with a name; `null` if there is none.
    subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The value of a text; `nil` for any other value.
    var stringValue: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a whole number; `nil` for any other value.
    var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The value of any number, whole ones included.
    var numberValue: Double? { if case .number(let value) = self { value } else { self.integerValue.map(Double.init) } }

    /// The elements of an array; empty for any other value.
    var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    /// The value as one line of JSON.
    var line: String { get throws { String(decoding: try self.text, as: UTF8.self) } }

    /// The value as indented JSON.
    var indented: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// Makes an object of the members that have a value.
    static func members(_ members: [String: JSONValue?]) -> JSONValue { .object(members.compactMapValues { $0 }) }

    /// Makes an array of texts; `nil` for none, so that the member is left out.
    static func texts(_ texts: [String]) -> JSONValue? { texts.isEmpty ? nil : .array(texts.map(JSONValue.string)) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(Dictionary(elements) { $1 }) }
}

extension String {
    var json: JSONValue { .string(self) }
}

extension Bool {
    var json: JSONValue { .bool(self) }
}

extension BinaryInteger {
    var json: JSONValue { .integer(Int64(clamping: self)) }
}
