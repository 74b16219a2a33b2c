package import Foundation

/// Writes JSON text without spaces (RFC 8259), in time that is linear in its length.
///
/// The bytes of a value are those of Foundation's encoder with sorted keys, because stored texts and their hashes
/// depend on them. That encoder is too slow for the events of a campaign and the lines of an export, which are written
/// part by part.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    private static let digits = Array("0123456789abcdef".utf8)

    /// Creates a writer of an empty text.
    /// - Parameter capacity: The number of bytes to reserve.
    package init(capacity: Int = 0) { self.bytes.reserveCapacity(capacity) }

    // MARK: Parts

    /// Appends text that is JSON already.
    package mutating func raw(_ text: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends text that is JSON already.
    package mutating func raw(_ data: Data) { self.bytes.append(contentsOf: data) }

    /// Appends a number, or `null` for `nil`.
    package mutating func integer(_ value: Int64?) {
        guard let value else { return self.raw("null") }
        self.bytes.append(contentsOf: String(value).utf8)
    }

    /// Appends a string with its quotation marks, or `null` for `nil`.
    package mutating func string(_ text: String?) {
        guard let text else { return self.raw("null") }
        self.bytes.append(UInt8(ascii: "\""))
        self.characters(text[...])
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the characters of a string without quotation marks around them.
    package mutating func characters(_ text: Substring) { Self.append(charactersOf: text, to: &self.bytes) }

    /// Appends a string of two hexadecimal digits for each byte, with its quotation marks.
    package mutating func hexadecimal(_ bytes: [UInt8]) {
        self.bytes.append(UInt8(ascii: "\""))
        for byte in bytes {
            self.bytes.append(Self.digits[Int(byte >> 4)])
            self.bytes.append(Self.digits[Int(byte & 15)])
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// Removes everything that was written, and keeps the capacity.
    package mutating func removeAll() { self.bytes.removeAll(keepingCapacity: true) }

    /// Appends the characters of a string to `output`, escaped so that they cannot end it (RFC 8259 section 7).
    package static func append(charactersOf text: Substring, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes in
            // Runs without an escape are appended at once. Byte by byte, this took most of the time of a long list.
            var start = bytes.startIndex
            for (index, byte) in bytes.enumerated() where Self.isEscaped(byte) {
                output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
                Self.append(escaped: byte, to: &output)
                start = index + 1
            }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(escaped byte: UInt8, to output: inout [UInt8]) {
        switch byte {
        case 0x08: output += #"\b"#.utf8
        case 0x09: output += #"\t"#.utf8
        case 0x0a: output += #"\n"#.utf8
        case 0x0c: output += #"\f"#.utf8
        case 0x0d: output += #"\r"#.utf8
        case 0x20...: output += [UInt8(ascii: "\\"), byte]
        default: output += [0x5c, 0x75, 0x30, 0x30, Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
        }
    }

    // MARK: Values

    /// Appends a value, the members of objects in alphabetical order.
    /// - Throws: `EncodingError` for a number that JSON does not have.
    package mutating func value(_ value: JSONValue) throws {
        switch value {
        case .null: self.raw("null")
        case .bool(let flag): self.raw(flag ? "true" : "false")
        case .integer(let integer): self.integer(integer)
        case .number(let number): try self.number(number)
        case .string(let text): self.string(text)
        case .array(let values):
            self.raw("[")
            for (index, value) in values.enumerated() {
                if index > 0 { self.raw(",") }
                try self.value(value)
            }
            self.raw("]")
        case .object(let members):
            self.raw("{")
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, (name, value)) in sorted.enumerated() {
                if index > 0 { self.raw(",") }
                self.string(name)
                self.raw(":")
                try self.value(value)
            }
            self.raw("}")
        }
    }

    private mutating func number(_ number: Double) throws {
        guard number.isFinite else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(number)")
            throw EncodingError.invalidValue(number, context)
        }
        let text = number.description
        self.bytes += text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...]
    }
}
