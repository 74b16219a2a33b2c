/// Decodes the characters and references of XML 1.0.
package enum XMLCharacters {
    /// The position of characters in a document, which determines how white space and references are decoded.
    package enum Place {
        case text, attribute, section
    }

    /// Returns whether XML allows a character.
    package static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character.value {
        case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }

    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    /// Decodes characters in UTF-8.
    ///
    /// Line ends become U+000A, and white space in an attribute becomes spaces (XML 1.0 §2.11, §3.3.3). CDATA has no
    /// references.
    package static func decode(_ bytes: ArraySlice<UInt8>, _ place: Place) throws(XMLFault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw XMLFault(.notUTF8, "it is not UTF-8")
        }
        guard text.unicodeScalars.allSatisfy(self.isAllowed) else {
            throw XMLFault(.notWellFormed, "it has a character that XML forbids")
        }
        if place == .text, bytes.contains(UInt8(ascii: "]")), text.firstRange(of: "]]>") != nil {
            throw XMLFault(.notWellFormed, "a section ends that has not begun")
        }
        let changes: (UInt8) -> Bool = { $0 == 0x26 || $0 == 0x0d || (place == .attribute && $0 < 0x20) }
        guard bytes.contains(where: changes) else { return text }
        var output = ""
        output.reserveCapacity(bytes.count)
        var rest = text.unicodeScalars[...]
        while let character = rest.popFirst() {
            switch character {
            case "&" where place != .section: output.unicodeScalars.append(try self.reference(&rest))
            case "\r":
                if rest.first == "\n" { rest.removeFirst() }
                output.unicodeScalars.append(place == .attribute ? " " : "\n")
            case "\n", "\t": output.unicodeScalars.append(place == .attribute ? " " : character)
            default: output.unicodeScalars.append(character)
            }
        }
        return output
    }

    private static let maximumReference = 8

    private static func reference(_ rest: inout Substring.UnicodeScalarView) throws(XMLFault) -> Unicode.Scalar {
        let name = rest.prefix(self.maximumReference + 1).prefix { $0 != ";" }
        guard name.count <= self.maximumReference, name.endIndex < rest.endIndex else {
            throw XMLFault(.notWellFormed, "an & begins no reference")
        }
        rest = rest[rest.index(after: name.endIndex)...]
        let text = String(String.UnicodeScalarView(name))
        guard text.hasPrefix("#") else {
            guard let character = self.entities[text] else {
                throw XMLFault(.restricted, "it has an entity besides the five of XML")
            }
            return character
        }
        let isHexadecimal = text.hasPrefix("#x")
        let digits = text.dropFirst(isHexadecimal ? 2 : 1)
        // The digits are checked, because the initializer accepts a sign too.
        guard digits.utf8.allSatisfy(\.isAlphanumeric), let value = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            let character = Unicode.Scalar(value), self.isAllowed(character)
        else { throw XMLFault(.notWellFormed, "a reference stands for no character") }
        return character
    }

    private static let entities: [String: Unicode.Scalar] = [
        "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
    ]
}
