public import Foundation

/// The checked values of a screen's parameters.
public struct ScreenValues: Hashable, Sendable {
    private let values: [String: JSONValue]

    init(_ values: [String: JSONValue] = [:]) { self.values = values }

    /// Returns the value of a required parameter.
    /// - Throws: ``RouteError`` if the payload has no value, or one that cannot be converted to `type`.
    public func required<Value: ScreenValue>(_ name: String, as type: Value.Type = Value.self) throws(RouteError)
        -> Value
    {
        guard let value = try self.optional(name, as: type) else {
            throw RouteError(.missingProperty, "\(name) is missing")
        }
        return value
    }

    /// Returns the value of a parameter, or `nil` if the payload has none.
    /// - Throws: ``RouteError`` for a value that cannot be converted to `type`.
    public func optional<Value: ScreenValue>(_ name: String, as type: Value.Type = Value.self) throws(RouteError)
        -> Value?
    {
        guard let value = self.values[name] else { return nil }
        guard let value = Value(screenValue: value) else {
            throw RouteError(.wrongType, "\(name) is no \(Value.self)")
        }
        return value
    }
}

/// A type to which a screen's value can be converted: `String`, `Int`, `Int64`, `Double`, `Bool`, `Date`, `UUID`, and
/// enumerations with raw values of type `String` that declare the conformance.
public protocol ScreenValue {
    /// Converts a value that was checked against the type and the limits of its parameter. Returns `nil` for a value
    /// that cannot be converted to this type.
    init?(screenValue value: JSONValue)
}

extension String: ScreenValue {
    public init?(screenValue value: JSONValue) {
        guard let text = value.string else { return nil }
        self = text
    }
}

extension Int64: ScreenValue {
    public init?(screenValue value: JSONValue) {
        guard let number = value.integer else { return nil }
        self = number
    }
}

extension Int: ScreenValue {
    /// Converts a whole number that fits into `Int`, which has 32 bits on some watches. Returns `nil` for other values.
    public init?(screenValue value: JSONValue) {
        guard let number = value.integer.flatMap({ Int(exactly: $0) }) else { return nil }
        self = number
    }
}

extension Double: ScreenValue {
    public init?(screenValue value: JSONValue) {
        switch value {
        case .integer(let number): self = Double(number)
        case .number(let number): self = number
        default: return nil
        }
    }
}

extension Bool: ScreenValue {
    public init?(screenValue value: JSONValue) {
        guard case .bool(let boolean) = value else { return nil }
        self = boolean
    }
}

extension UUID: ScreenValue {
    public init?(screenValue value: JSONValue) {
        guard let text = value.string, text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
        self = uuid
    }
}

extension Date: ScreenValue {
    /// The range of accepted dates in seconds since 1970, which contains the years 1 to 9999.
    private static let seconds = -62_135_596_800.0...253_402_300_799.0

    public init?(screenValue value: JSONValue) {
        let date: Date?
        switch value {
        case .integer(let seconds): date = Date(timeIntervalSince1970: Double(seconds))
        case .number(let seconds): date = Date(timeIntervalSince1970: seconds)
        case .string(let text): date = Self.parsed(text)
        default: date = nil
        }
        guard let date, Self.seconds.contains(date.timeIntervalSince1970) else { return nil }
        self = date
    }

    /// Parses a string in the format of RFC 3339. Returns `nil` for any other string.
    private static func parsed(_ text: String) -> Date? {
        let characters = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "T"), UInt8(ascii: "Z"), UInt8(ascii: ":"),
                UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard (20...35).contains(text.utf8.count), characters else { return nil }
        let hasFraction = text.utf8.contains(UInt8(ascii: "."))
        return try? Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).parse(text)
    }
}

extension ScreenValue where Self: RawRepresentable, RawValue == String {
    public init?(screenValue value: JSONValue) {
        guard let text = value.string else { return nil }
        self.init(rawValue: text)
    }
}
