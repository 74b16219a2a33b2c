package import Foundation
import PushTypes

/// A JSON value. Integers of 64 bits keep their exact value.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Parses a text.
    ///
    /// - Parameter refusesDuplicates: `true` makes two members of an object with the same name an error. Default
    ///   `false`: the first one counts.
    /// - Throws: ``RequestError`` of the kind ``RequestError/Kind/invalid`` for a text that is not JSON.
    package init(parsing data: Data, refusesDuplicates: Bool = false) throws(RequestError) {
        self = try JSONParser.parse(data, refusesDuplicates: refusesDuplicates)
    }

    /// Parses a text without copying its bytes, otherwise as ``init(parsing:refusesDuplicates:)`` does.
    package init(parsingBytes bytes: [UInt8]) throws(RequestError) { self = try JSONParser.parse(bytes) }

    /// Returns the members of a JSON object that is encoded in base64url, as in a JWS, or `nil` for any other text.
    package static func members(base64URL text: Substring) -> [String: JSONValue]? {
        guard let data = Base64URL.decode(text), case .object(let members)? = try? JSONValue(parsing: data) else {
            return nil
        }
        return members
    }

    /// Returns the line and the column, both from 1, at which a text stops being valid JSON, or `nil` for a valid text.
    package static func errorPosition(in text: Data) -> (line: Int, column: Int)? {
        guard let offset = JSONParser.errorOffset(in: text) else { return nil }
        let before = text.prefix(offset)
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, before.distance(from: start, to: before.endIndex) + 1)
    }

    /// The JSON text without spaces, with members in alphabetical order.
    package var text: Data {
        get throws {
            var writer = JSONWriter()
            try writer.value(self)
            return Data(writer.bytes)
        }
    }
}

/// Access to members and elements, for reading responses and creating requests.
extension JSONValue {
    /// The member with a name, or `null` if there is none.
    package subscript(name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The text of a string, or `nil` for any other value.
    package var stringValue: String? { if case .string(let text) = self { text } else { nil } }

    /// The integer, or `nil` for any other value.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The number, also of an integer, or `nil` for any other value.
    package var numberValue: Double? {
        if case .number(let value) = self { value } else { self.integerValue.map(Double.init) }
    }

    /// The elements of an array, or an empty array for any other value.
    package var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }

    /// Creates an object, without the members that are `nil`.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }

    /// Creates an array of strings, or returns `nil` if there are none, so that ``members(_:)`` leaves the member out.
    package static func texts(_ texts: [String]) -> JSONValue? {
        texts.isEmpty ? nil : .array(texts.map(JSONValue.string))
    }
}

extension JSONValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            // Strings come first because most values are: a decoder that fails costs more than one that succeeds.
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
