import Foundation

/// Writes JSON text without spaces, members in alphabetical order, in time that grows with its length alone. The bytes are
/// those of Foundation's encoder with sorted keys: stored texts and their hashes depend on them.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    /// - Throws: `EncodingError` for a number that JSON does not have.
    mutating func write(_ value: JSONValue) throws {
        switch value {
        case .null: self.bytes += "null".utf8
        case .bool(let flag): self.bytes += (flag ? "true" : "false").utf8
        case .integer(let integer): self.bytes += "\(integer)".utf8
        case .number(let number): try self.write(number)
        case .string(let text): self.write(text)
        case .array(let values):
            self.bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
                try self.write(value)
            }
            self.bytes.append(UInt8(ascii: "]"))
        case .object(let members): try self.write(members)
        }
    }

    private mutating func write(_ members: [String: JSONValue]) throws {
        self.bytes.append(UInt8(ascii: "{"))
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (index, (name, value)) in sorted.enumerated() {
            if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
            self.write(name)
            self.bytes.append(UInt8(ascii: ":"))
            try self.write(value)
        }
        self.bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ number: Double) throws {
        guard number.isFinite else {
            let context = EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(number)")
            throw EncodingError.invalidValue(number, context)
        }
        let text = number.description
        self.bytes += text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...]
    }

    private mutating func write(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): self.bytes += #"\""#.utf8
            case UInt8(ascii: "\\"): self.bytes += #"\\"#.utf8
            case 0x08: self.bytes += #"\b"#.utf8
            case 0x0c: self.bytes += #"\f"#.utf8
            case 0x0a: self.bytes += #"\n"#.utf8
            case 0x0d: self.bytes += #"\r"#.utf8
            case 0x09: self.bytes += #"\t"#.utf8
            case ..<0x20: self.bytes += "\(byte < 0x10 ? #"\u000"# : #"\u00"#)\(String(byte, radix: 16))".utf8
            default: self.bytes.append(byte)
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }
}
