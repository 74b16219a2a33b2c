import Foundation

/// JSON text that is written byte by byte: a campaign writes an event per device, for which an encoder is too slow.
struct JSONBytes {
    private(set) var bytes: [UInt8] = []

    private static let digits = Array("0123456789abcdef".utf8)

    /// Text that is JSON already.
    mutating func raw(_ text: StaticString) {
        self.bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ data: Data) {
        self.bytes.append(contentsOf: data)
    }

    mutating func integer(_ value: Int64) {
        self.bytes.append(contentsOf: String(value).utf8)
    }

    /// A number, or `null`.
    mutating func integer(_ value: Int64?) {
        if let value { self.integer(value) } else { self.raw("null") }
    }

    /// A string with its quotes, or `null`; what must not stand in a string is escaped (RFC 8259 section 7).
    mutating func string(_ text: String?) {
        guard let text else { return self.raw("null") }
        self.bytes.append(UInt8(ascii: "\""))
        self.characters(text)
        self.bytes.append(UInt8(ascii: "\""))
    }

    /// A string's inside.
    mutating func characters(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                self.bytes.append(UInt8(ascii: "\\"))
                self.bytes.append(byte)
            case 0..<0x20:
                self.raw("\\u00")
                self.digits(byte)
            default: self.bytes.append(byte)
            }
        }
    }

    /// Two hexadecimal digits for each byte, with quotes.
    mutating func hexadecimal(_ bytes: some Sequence<UInt8>) {
        self.bytes.append(UInt8(ascii: "\""))
        for byte in bytes { self.digits(byte) }
        self.bytes.append(UInt8(ascii: "\""))
    }

    mutating func reserve(_ bytes: Int) {
        self.bytes.reserveCapacity(bytes)
    }

    private mutating func digits(_ byte: UInt8) {
        self.bytes.append(Self.digits[Int(byte >> 4)])
        self.bytes.append(Self.digits[Int(byte & 15)])
    }
}
