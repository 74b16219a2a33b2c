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

    /// Returns `true` if a text has one of some words, in any case. A word ends where a nick would end.
    static func contains(anyOf words: [String], in text: String) -> Bool {
        let text = Array(text.lowercased().unicodeScalars)
        return words.contains { Self.contains(Array($0.lowercased().unicodeScalars), in: text) }
    }

    private static func contains(_ word: [Unicode.Scalar], in text: [Unicode.Scalar]) -> Bool {
        guard let first = word.first, text.count >= word.count else { return false }
        for start in 0...(text.count - word.count) where text[start] == first {
            let end = start + word.count
            if text[start..<end].elementsEqual(word), start == 0 || Self.isBoundary(text[start - 1]),
                end == text.count || Self.isBoundary(text[end])
            {
                return true
            }
        }
        return false
    }

    private static func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
            && !"-_[]\\{}|`^".unicodeScalars.contains(scalar)
    }
}
