import Foundation

extension UInt8 {
    /// `true` for a letter, a digit, `-`, `.` or `_`.
    var isName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes in hexadecimal digits.
    var hexadecimal: String {
        self.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}
