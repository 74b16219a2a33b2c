extension UInt8 {
    /// A Boolean value that indicates whether names may contain the character: an ASCII letter, a digit, `-`, `.` or
    /// `_`.
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
    var hexadecimal: String {
        self.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}

extension String {
    /// Returns whether both strings have the same UTF-8 bytes. Swift's `==` also treats canonically equivalent strings
    /// as equal, such as K and the kelvin sign.
    func isSame(as other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }

    /// The string in a form that is safe for a log, with at most 64 characters and `?` for each control character.
    var forLog: String {
        let scalars = self.unicodeScalars.prefix(64).map { scalar in
            switch scalar.properties.generalCategory {
            // These include characters that break a line or reverse its direction.
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                Unicode.Scalar("?")
            default: scalar
            }
        }
        var text = String.UnicodeScalarView(scalars)
        if self.unicodeScalars.count > 64 { text.append("…") }
        return String(text)
    }
}

extension Unicode.Scalar {
    var isControl: Bool { self.properties.generalCategory == .control }
}
