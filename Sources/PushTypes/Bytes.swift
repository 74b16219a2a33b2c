package import Foundation

/// Encodes and decodes base64url without padding (RFC 4648 section 5).
package enum Base64URL {
    /// Encodes bytes as base64url, without padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = Data(bytes).base64EncodedData()
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64url, with or without padding. Returns `nil` for any other text.
    package static func decode(_ text: some StringProtocol) -> Data? {
        var standard = text.utf8.filter { $0 != UInt8(ascii: "=") }
        for index in standard.indices {
            switch standard[index] {
            case UInt8(ascii: "-"): standard[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): standard[index] = UInt8(ascii: "/")
            default: break
            }
        }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        return Data(base64Encoded: Data(standard))
    }
}

/// Encodes and decodes hexadecimal text.
package enum Hexadecimal {
    /// Encodes bytes as lower-case hexadecimal text, two digits per byte.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes hexadecimal text in either case. Returns `nil` for an odd number of digits or a character that is not a
    /// digit.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = Self.value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// Decodes hexadecimal text in either case. Returns `nil` for an odd number of digits or a character that is not a
    /// digit. The gateway calls this function for every request, so it looks the digits up in a table without
    /// branching.
    package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        // A character that is not a digit has the value 0xff, which stays visible in the high bits of the union.
        var union: UInt8 = 0
        let digits = Self.digits
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 2) { buffer, count in
            for index in 0..<(text.count / 2) {
                let (high, low) = (digits[Int(text[2 * index])], digits[Int(text[2 * index + 1])])
                union |= high | low
                buffer[index] = high << 4 | low
            }
            count = text.count / 2
        }
        return union < 16 ? bytes : nil
    }

    /// The digit value of each character code, or 0xff for a character that is not a digit.
    private static let digits: [UInt8] = (0...UInt8.max).map { Self.value(of: $0) ?? 0xff }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Generates random bytes for secrets and salts.
package enum RandomBytes {
    /// Returns `count` bytes from the system's random number generator.
    package static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
