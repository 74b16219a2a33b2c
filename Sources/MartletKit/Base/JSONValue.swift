public import Foundation

/// A JSON value that an app and its provider exchange, such as a member of a payload or an attribute.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The bounds of what is read: longer, deeper or richer input is no value.
    enum Bounds {
        /// In bytes. Payloads have 5,120 at most (reference 3.1), and rule files of the router are larger.
        static let text = 256 * 1024
        static let depth = 32
        /// The values within a payload, itself included.
        static let values = 16384
    }

    /// Reads a JSON text.
    ///
    /// The value is `nil` for text that is not JSON, has more than 256 KiB or is nested more than 32 deep.
    public init?(json: Data) {
        // Foundation reads UTF-16 too, in which a count of brackets goes wrong; there, every second byte is 0.
        guard json.count <= Bounds.text, !json.contains(0), Self.measure(json).depth <= Bounds.depth,
            let value = try? JSONDecoder().decode(JSONValue.self, from: json)
        else { return nil }
        self = value
    }

    /// Reads the JSON text of a payload, which has 16,384 values at most.
    init?(payload: Data) {
        guard payload.count <= Bounds.text, Self.measure(payload).values <= Bounds.values else { return nil }
        self.init(json: payload)
    }

    /// The JSON text, with members in alphabetical order.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers that JSON does not have, which only code can make, become texts.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return (try? encoder.encode(self)) ?? Data("null".utf8)
    }

    /// Returns the depth of nesting of a text and the number of its values, without reading it: a decoder that recurses must not
    /// see a deep one. An empty list or object counts twice.
    private static func measure(_ text: Data) -> (depth: Int, values: Int) {
        var (depth, deepest, values, inString, isEscaped) = (0, 0, 1, false, false)
        for byte in text {
            if inString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                values += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ","): values += 1
            default: break
            }
        }
        return (deepest, values)
    }
}

extension JSONValue {
    /// The text of a string; `nil` for other values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The number of an integer, or of a number without a fraction; `nil` for other values.
    public var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The members of an object; `nil` for other values.
    public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The elements of an array; `nil` for other values.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
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

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
}
