import Foundation
package import PushSupport

/// The ways in which commands write JSON.
extension JSONValue {
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
