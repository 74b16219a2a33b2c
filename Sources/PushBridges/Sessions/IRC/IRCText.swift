/// The text of a line of IRC, as people read it.
enum IRCText {
    /// Returns the text without formatting codes and control characters.
    static func plain(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return text }
        var result = ""
        var rest = Substring(text)
        while let character = rest.unicodeScalars.popFirst() {
            switch character.value {
            case 0x03: Self.dropColor(&rest, digits: 2, where: { $0.isASCII && $0.properties.numericType == .decimal })
            case 0x04: Self.dropColor(&rest, digits: 6, where: \.properties.isASCIIHexDigit)
            case 0..<0x20, 0x7f: break
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }

    /// Removes the digits of a foreground and of a background.
    private static func dropColor(_ rest: inout Substring, digits: Int, where isDigit: (Unicode.Scalar) -> Bool) {
        func drop(_ text: inout Substring.UnicodeScalarView) -> Bool {
            let count = text.prefix(digits).prefix(while: isDigit).count
            text.removeFirst(count)
            return count > 0
        }
        guard drop(&rest.unicodeScalars), rest.unicodeScalars.first == "," else { return }
        var background = rest.unicodeScalars.dropFirst()
        if drop(&background) { rest.unicodeScalars = background }
    }

    /// A word in lower case, as it is searched for.
    typealias Word = SearchPattern<Unicode.Scalar>

    /// The number of scalars at the beginning of a text in which words are searched for. A push shows no more.
    static let searched = 1024

    /// Returns the word that is searched for in any case; one that is longer than what is searched is found nowhere.
    static func word(_ text: String) -> Word {
        let scalars = Array(text.lowercased().unicodeScalars)
        return Word(scalars.count <= Self.searched ? scalars : [])
    }

    /// Returns `true` if the beginning of a text has one of some words, in any case. A word ends where a nick would end.
    static func contains(anyOf words: [Word], in text: String) -> Bool {
        let beginning = text.unicodeScalars.prefix(Self.searched)
        // The text behind the beginning is not known: no word ends there.
        let isWhole = beginning.endIndex == text.unicodeScalars.endIndex
        let scalars = Array(String(beginning).lowercased().unicodeScalars)
        let boundaries = scalars.map(Self.isBoundary)
        return words.contains { word in
            word.occurs(in: scalars) { range in
                let begins = range.lowerBound == 0 || boundaries[range.lowerBound - 1]
                return begins && (range.upperBound == scalars.count ? isWhole : boundaries[range.upperBound])
            }
        }
    }

    private static func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", "[", "]", "\\", "{", "}", "|", "`", "^": false
        case _ where scalar.isASCII: true
        default: !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
        }
    }
}
