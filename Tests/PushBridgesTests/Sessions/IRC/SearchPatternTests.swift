import PushTesting
import Synchronization
import Testing

@testable import PushBridges

@Suite struct SearchPatternTests {
    private final class Comparisons: Sendable {
        private let number = Mutex(0)

        var count: Int { self.number.withLock { $0 } }

        func add() { self.number.withLock { $0 += 1 } }
    }

    /// A character that counts its comparisons.
    private struct Counted: Hashable, Sendable {
        let value: Character
        let comparisons: Comparisons

        static func == (first: Counted, second: Counted) -> Bool {
            first.comparisons.add()
            return first.value == second.value
        }

        func hash(into hasher: inout Hasher) { hasher.combine(self.value) }

        static func text(_ text: String, _ comparisons: Comparisons) -> [Counted] {
            text.map { Counted(value: $0, comparisons: comparisons) }
        }
    }

    /// Before, such a text of a chat server took a comparison for each of its characters and each of the word.
    @Test(arguments: [("a", "b"), ("b", "a")])
    func whatRepeatsIsComparedAFewTimes(first: String, last: String) {
        let comparisons = Comparisons()
        let word = Counted.text(first + String(repeating: "a", count: 62) + last, comparisons)
        let text = Counted.text(String(repeating: "a", count: 8000), comparisons)
        let pattern = SearchPattern(word)
        #expect(comparisons.count <= 3 * word.count)
        let before = comparisons.count
        #expect(!pattern.occurs(in: text) { _ in true })
        #expect((text.count...3 * text.count).contains(comparisons.count - before))
    }

    @Test func everyOccurrenceIsFound() {
        var random = SeededGenerator(seed: 1)
        func make(_ lengths: ClosedRange<Int>) -> [Character] {
            (0..<Int.random(in: lengths, using: &random)).map { _ in Bool.random(using: &random) ? "a" : "b" }
        }
        for _ in 0..<1000 {
            let (word, text) = (make(1...5), make(0...30))
            var found: [Range<Int>] = []
            let isFound = SearchPattern(word).occurs(in: text) { range in
                found.append(range)
                return false
            }
            #expect(!isFound)
            let starts = text.indices.filter { Array(text[$0...].prefix(word.count)) == word }
            #expect(found == starts.map { $0..<($0 + word.count) })
        }
    }

    @Test func anEmptyPatternOccursNowhere() {
        #expect(!SearchPattern<Character>([]).occurs(in: ["a"]) { _ in true })
        #expect(!SearchPattern<Character>(["a"]).occurs(in: []) { _ in true })
    }
}
