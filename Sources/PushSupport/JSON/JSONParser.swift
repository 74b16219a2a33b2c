import Foundation

/// A parser for JSON text (RFC 8259) in UTF-8. Its time is linear in the length of the text.
///
/// A byte order mark is skipped. Of members with the same name the first one counts, unless duplicates are refused. A
/// whole number becomes an integer if it fits into 64 bits, even if it is written as `1.0` or `1e2`.
struct JSONParser {
    /// The maximum depth of nesting. A deeper text is rejected: with 250 levels, a stack of 512 kB overflowed.
    static let maximumDepth = 64
    /// The maximum number of values in one text, on all levels together. A text with more is rejected.
    static let maximumValues = 250_000
    /// The maximum length of a number that is converted exactly by `Decimal`, in bytes. Longer ones become a `Double`.
    private static let longestExact = 400

    private let bytes: [UInt8]
    private let refusesDuplicates: Bool
    private var position = 0
    private var values = 0

    private init(_ bytes: [UInt8], refusesDuplicates: Bool = false) {
        (self.bytes, self.refusesDuplicates) = (bytes, refusesDuplicates)
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { self.position = 3 }
    }

    /// Parses a text.
    ///
    /// - Parameter refusesDuplicates: `true` makes two members of an object with the same name an error.
    /// - Throws: ``RequestError`` of the kind ``RequestError/Kind/invalid``.
    static func parse(_ text: Data, refusesDuplicates: Bool = false) throws(RequestError) -> JSONValue {
        try Self.parse(Array(text), refusesDuplicates: refusesDuplicates)
    }

    static func parse(_ bytes: [UInt8], refusesDuplicates: Bool = false) throws(RequestError) -> JSONValue {
        var parser = JSONParser(bytes, refusesDuplicates: refusesDuplicates)
        let value = try parser.value(depth: 0)
        guard parser.peek() == nil else { throw Self.invalid }
        return value
    }

    /// Returns the offset in bytes at which a text stops being valid, or `nil` for a valid text.
    static func errorOffset(in text: Data) -> Int? {
        var parser = JSONParser(Array(text))
        do {
            _ = try parser.value(depth: 0)
            return parser.peek() == nil ? nil : parser.position
        } catch {
            return min(parser.position, parser.bytes.count)
        }
    }

    private static var invalid: RequestError {
        RequestError(.invalid, code: "invalid_json", message: "the body is not valid JSON in UTF-8")
    }

    private func byte(at index: Int) -> UInt8? { index < self.bytes.count ? self.bytes[index] : nil }

    private mutating func peek() -> UInt8? {
        while let byte = self.byte(at: self.position) {
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            self.position += 1
        }
        return nil
    }

    private mutating func value(depth: Int) throws(RequestError) -> JSONValue {
        self.values += 1
        guard self.values <= Self.maximumValues else {
            throw RequestError(
                .invalid,
                code: "too_many_values",
                message: "at most \(Self.maximumValues) values in one body: send it in parts"
            )
        }
        switch self.peek() {
        case UInt8(ascii: "{"): return .object(try self.members(depth: try Self.deeper(depth)))
        case UInt8(ascii: "["): return .array(try self.elements(depth: try Self.deeper(depth)))
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.literal("true", .bool(true))
        case UInt8(ascii: "f"): return try self.literal("false", .bool(false))
        case UInt8(ascii: "n"): return try self.literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): return try self.number()
        default: throw Self.invalid
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func deeper(_ depth: Int) throws(RequestError) -> Int {
        guard depth < Self.maximumDepth else {
            let message = "nest arrays and objects at most \(Self.maximumDepth) deep"
            throw RequestError(.invalid, code: "too_deep", message: message)
        }
        return depth + 1
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(RequestError) -> JSONValue {
        let end = self.position + text.utf8CodeUnitCount
        guard end <= self.bytes.count,
            text.withUTF8Buffer({ self.bytes[self.position..<end].elementsEqual($0) })
        else { throw Self.invalid }
        self.position = end
        return value
    }

    private mutating func members(depth: Int) throws(RequestError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        self.position += 1
        guard self.peek() != UInt8(ascii: "}") else {
            self.position += 1
            return members
        }
        while true {
            guard self.peek() == UInt8(ascii: "\"") else { throw Self.invalid }
            let name = try self.string()
            guard self.peek() == UInt8(ascii: ":") else { throw Self.invalid }
            self.position += 1
            let value = try self.value(depth: depth)
            if members[name] == nil {
                members[name] = value
            } else if self.refusesDuplicates {
                throw RequestError(.invalid, code: "invalid_json", message: "two members have the same name")
            }
            if try self.consumeSeparator(orEnd: UInt8(ascii: "}")) { return members }
        }
    }

    private mutating func elements(depth: Int) throws(RequestError) -> [JSONValue] {
        var elements: [JSONValue] = []
        self.position += 1
        guard self.peek() != UInt8(ascii: "]") else {
            self.position += 1
            return elements
        }
        while true {
            elements.append(try self.value(depth: depth))
            if try self.consumeSeparator(orEnd: UInt8(ascii: "]")) { return elements }
        }
    }

    /// Consumes the separator after an entry: a comma, or `end`.
    ///
    /// - Returns: `true` for `end`, and `false` for a comma.
    private mutating func consumeSeparator(orEnd end: UInt8) throws(RequestError) -> Bool {
        let byte = self.peek()
        guard byte == end || byte == UInt8(ascii: ",") else { throw Self.invalid }
        self.position += 1
        return byte == end
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number() throws(RequestError) -> JSONValue {
        let start = self.position
        if self.byte(at: self.position) == UInt8(ascii: "-") { self.position += 1 }
        let first = self.byte(at: self.position)
        let digits = try self.digits()
        guard first != UInt8(ascii: "0") || digits == 1 else { throw Self.invalid }
        let hasFraction = try self.fraction()
        let hasExponent = try self.exponent()
        let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        if !hasFraction, !hasExponent, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw RequestError(.invalid, code: "invalid_json", message: "a number in the body is too large")
        }
        if let integer = Int64(exactly: number), integer.magnitude < 1 << 53 { return .integer(integer) }
        return Self.exactInteger(text).map { .integer($0) } ?? .number(number)
    }

    private mutating func digits() throws(RequestError) -> Int {
        let start = self.position
        while let byte = self.byte(at: self.position), Self.isDigit(byte) {
            self.position += 1
        }
        guard self.position > start else { throw Self.invalid }
        return self.position - start
    }

    private mutating func fraction() throws(RequestError) -> Bool {
        guard self.byte(at: self.position) == UInt8(ascii: ".") else { return false }
        self.position += 1
        _ = try self.digits()
        return true
    }

    private mutating func exponent() throws(RequestError) -> Bool {
        guard let letter = self.byte(at: self.position), letter | 0x20 == UInt8(ascii: "e") else { return false }
        self.position += 1
        if let sign = self.byte(at: self.position), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            self.position += 1
        }
        _ = try self.digits()
        return true
    }

    /// Returns the exact integer that a text denotes, even if it is too large for a `Double`, or `nil` if it is not
    /// whole.
    private static func exactInteger(_ text: String) -> Int64? {
        guard text.utf8.count <= Self.longestExact, let decimal = Decimal(string: text) else { return nil }
        let integer = NSDecimalNumber(decimal: decimal).int64Value
        return Decimal(integer) == decimal ? integer : nil
    }
}

// MARK: - Strings

extension JSONParser {
    private mutating func string() throws(RequestError) -> String {
        self.position += 1
        let start = self.position
        while let byte = self.byte(at: self.position), byte >= 0x20 {
            switch byte {
            case UInt8(ascii: "\""):
                let text = self.bytes[start..<self.position]
                self.position += 1
                return try Self.text(text)
            case UInt8(ascii: "\\"): return try self.escapedString(from: start)
            default: self.position += 1
            }
        }
        throw Self.invalid
    }

    /// Reads the string that begins at `start`, and whose first escape is at the position.
    private mutating func escapedString(from start: Int) throws(RequestError) -> String {
        var text = Array(self.bytes[start..<self.position])
        while let byte = self.byte(at: self.position), byte >= 0x20 {
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return try Self.text(text[...])
            case UInt8(ascii: "\\"): text += UTF8.encode(try self.escape()) ?? UTF8.encodedReplacementCharacter
            default: text.append(byte)
            }
        }
        throw Self.invalid
    }

    private mutating func escape() throws(RequestError) -> Unicode.Scalar {
        defer { self.position += 1 }
        switch self.byte(at: self.position) {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try self.scalar()
        default: throw Self.invalid
        }
    }

    /// Reads a scalar from the `u` of an escape to its last digit. A scalar above U+FFFF consists of two escapes.
    private mutating func scalar() throws(RequestError) -> Unicode.Scalar {
        let unit = try self.unit()
        guard unit & 0xfc00 == 0xd800 else {
            guard let scalar = Unicode.Scalar(unit) else { throw Self.invalid }
            return scalar
        }
        guard self.byte(at: self.position + 1) == UInt8(ascii: "\\"),
            self.byte(at: self.position + 2) == UInt8(ascii: "u")
        else { throw Self.invalid }
        self.position += 2
        let low = try self.unit()
        guard low & 0xfc00 == 0xdc00, let scalar = Unicode.Scalar(0x10000 + (unit & 0x3ff) << 10 + (low & 0x3ff)) else {
            throw Self.invalid
        }
        return scalar
    }

    /// Reads the four hexadecimal digits after the `u`, and leaves the position at the last one.
    private mutating func unit() throws(RequestError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            self.position += 1
            guard let byte = self.byte(at: self.position), let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { throw Self.invalid }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(RequestError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.invalid }
        return text
    }
}
