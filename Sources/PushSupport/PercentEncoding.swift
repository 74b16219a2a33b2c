/// The percent-encoding of URLs (RFC 3986).
package enum PercentEncoding {
    /// Encodes a string as a path component or a query value. All characters are encoded except the unreserved ones,
    /// which are letters, digits and `-._~` (section 2.3).
    package static func component(_ text: some StringProtocol) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isAlphanumeric || Self.marks.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let marks = Array("-._~".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte is an ASCII letter or digit.
    package var isAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
