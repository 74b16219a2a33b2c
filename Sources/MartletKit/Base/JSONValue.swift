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

    /// The limits of JSON input. Input that exceeds one of them is rejected.
    enum Bounds {
        /// The maximum size of a JSON text in bytes. A payload has at most 5,120 bytes (APNs reference 3.1), but a rule
        /// file may be larger. Larger text is rejected.
        static let text = 256 * 1024
        /// The maximum depth of nested arrays and objects. Deeper input is rejected.
        static let depth = 32
        /// The maximum number of values in a payload, including the payload itself. A payload with more is rejected.
        static let values = 16384
    }

    /// Parses a JSON text. Returns `nil` for data that is not JSON, is larger than 256 KiB or is nested more than 32
    /// levels deep.
    public init?(json: Data) {
        // Foundation reads UTF-16 too, in which a count of brackets goes wrong; there, every second byte is 0.
        guard json.count <= Bounds.text, !json.contains(0), Self.measure(json).depth <= Bounds.depth,
            let value = try? JSONDecoder().decode(JSONValue.self, from: json)
        else { return nil }
        self = value
    }

    /// Parses the JSON text of a payload. Returns `nil` in the same cases as ``init(json:)``, and if the text has more
    /// than 16,384 values.
    init?(payload: Data) {
        guard payload.count <= Bounds.text, Self.measure(payload).values <= Bounds.values else { return nil }
        self.init(json: payload)
    }

    /// The value encoded as JSON text, with members in alphabetical order.
    public var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // JSON has neither infinities nor NaN, which only code can make: they become strings.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return (try? encoder.encode(self)) ?? Data("null".utf8)
    }

    /// Returns the nesting depth and the number of values of a JSON text without decoding it, because deeply nested
    /// text must not reach the recursive decoder. An empty array or object counts twice.
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
    /// The contents of a string, or `nil` for other kinds of values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of an integer, or of a number without a fractional part, or `nil` for other kinds of values.
    public var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The members of an object, or `nil` for other kinds of values.
    public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// The elements of an array, or `nil` for other kinds of values.
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

extension JSONValue {
    /// Returns the members of the payload in the dictionary with which the system delivers it. Values that are not JSON
    /// or exceed the limits are left out, because a hostile payload must not crash the app that it wakes.
    static func members(of userInfo: [AnyHashable: Any]) -> [String: JSONValue] {
        var remaining = Bounds.values
        return Self.members(of: userInfo, depth: 1, remaining: &remaining)
    }

    private static func members(
        of dictionary: [AnyHashable: Any],
        depth: Int,
        remaining: inout Int
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for (key, value) in dictionary {
            guard let name = key as? String else { continue }
            members[name] = Self.value(of: value, depth: depth, remaining: &remaining)
        }
        return members
    }

    /// Returns the JSON value for a Foundation object, or `nil` if it cannot be converted or exceeds the limits.
    /// - Parameters:
    ///   - depth: The number of arrays and objects around the object.
    ///   - remaining: The number of values that may still be converted.
    private static func value(of object: Any, depth: Int, remaining: inout Int) -> JSONValue? {
        remaining -= 1
        guard remaining >= 0, depth < Bounds.depth else { return nil }
        // An `NSNumber` of 0 or 1 could be cast to `Bool` too.
        if type(of: object) == Bool.self { return (object as? Bool).map { .bool($0) } }
        // Containers come first: a cast of one to an object's class would convert everything in it, however deep.
        switch object {
        case let dictionary as [AnyHashable: Any]:
            return .object(Self.members(of: dictionary, depth: depth + 1, remaining: &remaining))
        case let elements as [Any]:
            var values: [JSONValue] = []
            for element in elements {
                guard remaining > 0 else { break }
                guard let value = Self.value(of: element, depth: depth + 1, remaining: &remaining) else { continue }
                values.append(value)
            }
            return .array(values)
        case let text as String: return .string(text)
        case let number as NSNumber: return Self.number(number)
        case is NSNull: return .null
        default: return nil
        }
    }

    private static func number(_ number: NSNumber) -> JSONValue {
        switch String(cString: number.objCType) {
        // An eight-bit number has the letter of a Boolean too, but no payload produces one.
        case "c", "B": .bool(number.boolValue)
        case "d", "f": Int64(exactly: number.doubleValue).map { .integer($0) } ?? .number(number.doubleValue)
        // An unsigned number of 64 bits may be too large for an integer.
        case "Q": Int64(exactly: number.uint64Value).map { .integer($0) } ?? .number(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}
