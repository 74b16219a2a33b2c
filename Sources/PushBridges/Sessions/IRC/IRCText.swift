enum IRCText {
    /// Returns a string without IRC formatting codes and control characters.
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

    /// A lower-case word, prepared for searching.
    typealias Word = SearchPattern<Unicode.Scalar>

    /// The number of Unicode scalars at the beginning of a text that are searched. A push shows no more.
    static let searched = 1024

    /// Prepares a word for a case-insensitive search. A word longer than ``searched`` never matches.
    static func word(_ text: String) -> Word {
        let scalars = Array(text.lowercased().unicodeScalars)
        return Word(scalars.count <= Self.searched ? scalars : [])
    }

    /// Returns whether the beginning of a text contains one of the words, ignoring case. Characters that cannot be part
    /// of a nick delimit words.
    static func contains(anyOf words: [Word], in text: String) -> Bool {
        let beginning = text.unicodeScalars.prefix(Self.searched)
        // A match at the end of the searched prefix may be the beginning of a longer word, so it does not count.
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

/// A sequence to search for in other sequences by the algorithm of Knuth, Morris and Pratt, which takes linear time.
struct SearchPattern<Element: Hashable & Sendable>: Hashable, Sendable {
    private let elements: [Element]
    /// For each prefix of the elements, the length of its longest proper prefix that is also its suffix.
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

    /// Returns whether an occurrence in `text` satisfies a condition. An empty pattern never occurs.
    /// - Parameter condition: Checks the range of an occurrence. Occurrences may overlap.
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
