import ProviderModel
import Testing

/// What two patterns have in common.
@Suite struct GlobPatternTests {
    @Test(arguments: [
        ("com.victim.*", "com.victim.ios", true), ("*", "com.victim.ios", true), ("*", "com.victim.*", true),
        ("com.*", "*.ios", true), ("com.a*", "com.b*", false), ("*.ios", "*.dev", false), ("a?c", "?b?", true),
        ("a?", "a", false), ("a*", "a", true), ("a?*", "a", false), ("*a", "b*", true), ("a*b*c", "ac", false),
        ("a*b*c", "a??c", true), ("**", "", true), ("?", "", false), ("com.a", "com.a", true),
        ("com.a", "com.b", false),
        ("a*b", "*c*", true), ("?*?", "ä", false), ("?*?", "äö", true),
        // One beginning goes on where the other has its first place.
        ("ab*", "a*", true), ("ab", "abc?", false), ("ab?d*", "abc", false), ("ab*x", "ac*x", false),
    ])
    func namesOverlap(one: String, other: String, overlaps: Bool) {
        #expect(GlobPattern.overlap(one, other) == overlaps)
        #expect(GlobPattern.overlap(other, one) == overlaps)
    }

    @Test func twoWaysToWriteANameAreOne() {
        #expect(GlobPattern.overlap("caf\u{e9}", "cafe\u{301}"))
    }

    /// Every pattern of up to three characters against every text that decides: two patterns that have one in common have one that
    /// is no longer than both together.
    @Test func itIsDecidedExactly() {
        func words(_ letters: [String], _ longest: Int) -> [String] {
            var (all, last) = ([""], [""])
            for _ in 0..<longest {
                last = last.flatMap { word in letters.map { word + $0 } }
                all += last
            }
            return all
        }
        let texts = words(["a", "b"], 6).map { Array($0.unicodeScalars) }
        let patterns = words(["a", "b", "*", "?"], 3)
        let matches = patterns.map { pattern -> Set<Int> in
            let glob = GlobPattern(pattern)
            return Set(
                texts.indices.filter { index in
                    glob?.matches(texts[index]) ?? (texts[index] == Array(pattern.unicodeScalars))
                }
            )
        }
        for (one, ofOne) in zip(patterns, matches) {
            for (other, ofOther) in zip(patterns, matches) {
                let overlaps = !ofOne.isDisjoint(with: ofOther)
                if GlobPattern.overlap(one, other) != overlaps { Issue.record("\(one) and \(other)") }
            }
        }
    }

    @Test func aHostilePairTakesNoTime() {
        let pattern = String(repeating: "*a", count: 32)
        #expect(GlobPattern.overlap(pattern + "b", pattern + "*b"))
        #expect(!GlobPattern.overlap(pattern + "b", pattern + "c"))
    }

    @Test func theBeginningOfAPatternEndsAtItsFirstPlace() {
        #expect(GlobPattern("com.*.a?")?.literals == 4)
        #expect(GlobPattern("?")?.literals == 0)
        #expect(GlobPattern("com.a") == nil)
    }
}
