import ProviderModel
import Testing

/// The names that installations may write.
@Suite struct NamePatternsTests {
    @Test(arguments: [
        ("news.*", "news.sport", true), ("news.*", "news.", true), ("news.*", "news", false), ("*", "", true),
        ("*", "anything", true), ("beta", "beta", true), ("beta", "beta2", false), ("beta", "Beta", false),
        // The same look, other bytes: e with an accent.
        ("caf\u{e9}", "caf\u{e9}", true), ("caf\u{e9}", "cafe\u{301}", false), ("cafe\u{301}", "caf\u{e9}", false),
        // A pattern that ends before the accent is the beginning of the longer form only.
        ("cafe*", "cafe\u{301}", true), ("cafe*", "caf\u{e9}", false), ("caf\u{e9}*", "cafe\u{301}s", false),
        // The sign for kelvin equals the letter to Swift.
        ("K*", "\u{212a}elvin", false), ("\u{212a}*", "Kelvin", false),
    ])
    func namesAreMatchedByTheirBytes(pattern: String, name: String, isMatch: Bool) {
        #expect(NamePatterns([pattern]).match(name) == isMatch)
        #expect(NamePatterns(["other", pattern]).match(name) == isMatch)
    }

    @Test func withoutPatternsNothingMatches() {
        #expect(!NamePatterns().match(""))
        #expect(!NamePatterns().match("news"))
    }

    @Test(arguments: [
        ("news.*", true), ("*", true), ("", true), ("caf\u{e9}", true), ("a*b", false), ("**", false), ("a\nb", false),
        ("a\r\nb", false), ("a\0", false), ("*\n", false),
    ])
    func aStarEndsAPattern(text: String, isPattern: Bool) {
        #expect(NamePatterns.isPattern(text) == isPattern)
    }
}
