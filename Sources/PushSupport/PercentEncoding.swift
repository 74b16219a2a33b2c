/// The percent-encoding of addresses (RFC 3986).
package enum PercentEncoding {
    /// Returns a text as a component of a path or a value in a query: everything but the unreserved characters, which are
    /// letters, digits and `-._~` (section 2.3), is encoded.
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
