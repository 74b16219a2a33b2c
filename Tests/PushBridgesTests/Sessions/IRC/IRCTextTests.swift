import PushTesting
import Testing

@testable import PushBridges

@Suite struct IRCTextTests {
    /// Looks for a word at each place of a text, which takes as long as both together allow.
    private static func slowly(_ word: String, in text: String) -> Bool {
        let (word, text) = (Array(word.lowercased().unicodeScalars), Array(text.lowercased().unicodeScalars))
        func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
            !scalar.properties.isAlphabetic && scalar.properties.numericType == nil
                && !"-_[]\\{}|`^".unicodeScalars.contains(scalar)
        }
        guard !word.isEmpty, text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { start in
            let end = start + word.count
            return Array(text[start..<end]) == word && (start == 0 || isBoundary(text[start - 1]))
                && (end == text.count || isBoundary(text[end]))
        }
    }

    private static func contains(_ word: String, in text: String) -> Bool {
        IRCText.contains(anyOf: [IRCText.word(word)], in: text)
    }

    /// Words may have spaces, and begin or end where no word does.
    @Test func itFindsWhatASlowSearchFinds() {
        var random = SeededGenerator(seed: 1)
        let alphabet: [Unicode.Scalar] = ["a", "A", "b", " ", "+", "-", "\u{e4}", "1", "\u{301}", "\u{130}"]
        func make(_ lengths: ClosedRange<Int>) -> String {
            let scalars = (0..<Int.random(in: lengths, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            return String(String.UnicodeScalarView(scalars))
        }
        var found = 0
        for _ in 0..<5000 {
            let (word, text) = (make(1...3), make(0...12))
            let isFound = Self.contains(word, in: text)
            #expect(isFound == Self.slowly(word, in: text), "\(word) in \(text)")
            if isFound { found += 1 }
        }
        #expect(found > 100)
    }

    /// The lines of a server that wants the search to take long.
    @Test func aWorstCaseHasTheSameAnswer() {
        let words = (1...20).map { String(repeating: " a", count: $0) } + [String(repeating: "a", count: 63) + "b"]
        for unit in ["a", " a", "a ", String(repeating: "a", count: 63) + "b"] {
            let text = String(String(repeating: unit, count: 1024).prefix(1024))
            for word in words { #expect(Self.contains(word, in: text) == Self.slowly(word, in: text)) }
        }
    }

    /// A push shows no more, and a line may have eight times as much.
    @Test func wordsAreLookedForInTheBeginningOfAText() {
        let space = String(repeating: " ", count: 1021)
        #expect(Self.contains("ada", in: space + "ada"))
        #expect(Self.contains("ada", in: "ada " + space + space))
        #expect(!Self.contains("ada", in: space + " ada"))
        #expect(!Self.contains("ada", in: space + "adagio"))
        #expect(!Self.contains("ada", in: space + space + " ada"))
        let long = String(repeating: "x", count: 1025)
        #expect(!Self.contains(long, in: long))
    }
}
