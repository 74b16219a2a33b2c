/// Writes text into JSON strings, so that it can never end the string it stands in (RFC 8259 section 7).
enum JSONEscaping {
    /// Appends `text`, which is UTF-8, without quotation marks around it.
    static func append(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0x08: output += #"\b"#.utf8
            case 0x09: output += #"\t"#.utf8
            case 0x0a: output += #"\n"#.utf8
            case 0x0c: output += #"\f"#.utf8
            case 0x0d: output += #"\r"#.utf8
            case 0..<0x20: output += [0x5c, 0x75, 0x30, 0x30, 0x30 | byte >> 4, Self.digit(byte & 0x0f)]
            default: output.append(byte)
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// The text of a JSON string from what stands between its quotation marks. An escape that has no meaning, such as
    /// half a surrogate pair, becomes U+FFFD; so do bytes that are no UTF-8.
    static func unescaped(_ raw: [UInt8]) -> String {
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

    /// The escape after a backslash, and how many bytes it takes.
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
