/// Decodes JSON strings that ``AttributeScanner`` has located.
enum JSONUnescaping {
    /// Returns the string that the bytes between the quotation marks of a JSON string encode (RFC 8259 section 7).
    ///
    /// An invalid escape, such as half a surrogate pair, becomes U+FFFD. So do bytes that are not UTF-8.
    static func text(_ raw: [UInt8]) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var position = 0
        while position < raw.count {
            guard raw[position] == UInt8(ascii: "\\") else {
                bytes.append(raw[position])
                position += 1
                continue
            }
            let escape = Self.escape(raw, at: position + 1)
            bytes += String(escape.scalar).utf8
            position += 1 + escape.length
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the character that the escape after a backslash stands for, and the length of the escape in bytes.
    private static func escape(_ raw: [UInt8], at position: Int) -> (scalar: Unicode.Scalar, length: Int) {
        guard position < raw.count else { return ("\u{fffd}", 0) }
        switch raw[position] {
        case UInt8(ascii: "b"): return ("\u{08}", 1)
        case UInt8(ascii: "f"): return ("\u{0c}", 1)
        case UInt8(ascii: "n"): return ("\n", 1)
        case UInt8(ascii: "r"): return ("\r", 1)
        case UInt8(ascii: "t"): return ("\t", 1)
        case UInt8(ascii: "u"): return Self.unicodeEscape(raw, at: position + 1)
        case let byte where byte < 0x80: return (Unicode.Scalar(byte), 1)
        default: return ("\u{fffd}", 0)
        }
    }

    private static func unicodeEscape(_ raw: [UInt8], at position: Int) -> (scalar: Unicode.Scalar, length: Int) {
        guard let unit = Self.hexadecimal(raw, at: position) else { return ("\u{fffd}", 1) }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 5) }
        let next = position + 4
        guard unit < 0xdc00, next + 1 < raw.count, raw[next] == UInt8(ascii: "\\"), raw[next + 1] == UInt8(ascii: "u"),
            let low = Self.hexadecimal(raw, at: next + 2), (0xdc00...0xdfff).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit & 0x3ff) << 10 + low & 0x3ff)
        else { return ("\u{fffd}", 5) }
        return (scalar, 11)
    }

    private static func hexadecimal(_ raw: [UInt8], at position: Int) -> UInt32? {
        guard position + 4 <= raw.count else { return nil }
        var value: UInt32 = 0
        for byte in raw[position..<position + 4] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
