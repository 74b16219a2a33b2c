/// Prepares the text of IRC lines for display, and searches words in it.
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

    /// Removes the digits of a foreground and a background colour.
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

    /// A word in lower case, in the form in which it is searched for.
    typealias Word = SearchPattern<Unicode.Scalar>

    /// The number of scalars at the beginning of a text that are searched. A push shows no more.
    static let searched = 1024

    /// Returns the search form of a word, which matches in any case. A word longer than ``searched`` never matches.
    static func word(_ text: String) -> Word {
        let scalars = Array(text.lowercased().unicodeScalars)
        return Word(scalars.count <= Self.searched ? scalars : [])
    }

    /// Returns `true` if the beginning of a text contains one of the words, in any case. Words end at characters that
    /// cannot be part of a nick.
    static func contains(anyOf words: [Word], in text: String) -> Bool {
        let beginning = text.unicodeScalars.prefix(Self.searched)
        // A word that reaches the end of the searched part may continue after it, so it does not match.
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

/// A sequence to search for in others (Knuth, Morris, Pratt). The time is always linear in their length.
struct SearchPattern<Element: Hashable & Sendable>: Hashable, Sendable {
    private let elements: [Element]
    /// The length of the longest proper prefix of each prefix of the elements that is also its suffix.
    private let borders: [Int]

    init(_ elements: [Element]) {
        var borders: [Int] = elements.isEmpty ? [] : [0]
        var length = 0
        for element in elements.dropFirst() {
            while length > 0, elements[length] != element { length = borders[length - 1] }
            if elements[length] == element { length += 1 }
            borders.append(length)
        }
        (self.elements, self.borders) = (elements, borders)
    }

    /// Returns `true` if some occurrence meets a condition. An empty pattern occurs nowhere.
    /// - Parameter condition: Decides about the range of an occurrence. Occurrences may overlap.
    func occurs(in text: [Element], where condition: (Range<Int>) -> Bool) -> Bool {
        guard !self.elements.isEmpty, self.elements.count <= text.count else { return false }
        var length = 0
        for (index, element) in text.enumerated() {
            while length > 0, length == self.elements.count || self.elements[length] != element {
                length = self.borders[length - 1]
            }
            if self.elements[length] == element { length += 1 }
            guard length == self.elements.count else { continue }
            let end = index + 1
            if condition((end - length)..<end) { return true }
        }
        return false
    }
}
