import ProviderModel
import PushTesting
import Testing

/// Versions as numbers.
@Suite struct AppVersionTests {
    @Test func partsCompareAsNumbers() throws {
        let sorted = ["0", "0.0.1", "1", "1.2", "1.2.3", "1.10", "2.9", "2.10", "2.10.1", "2.11", "10", "1048575.1"]
        let versions = try sorted.map { try #require(AppVersion($0)) }
        for (index, version) in versions.enumerated() {
            #expect(version.text == sorted[index])
            for larger in versions.dropFirst(index + 1) { #expect(version < larger, "\(version) \(larger)") }
        }
    }

    @Test(arguments: [
        ("1", "1.0.0"), ("2.10", "2.10.0"), ("2.10.0.7", "2.10"), ("2.1-beta", "2.1"), ("2.1beta.9", "2.1"),
        ("02.010", "2.10"), ("3.", "3"), ("3..5", "3"), ("1.2.3 (456)", "1.2.3"), ("99999999.1", "1048575.1"),
        ("123456789012345678901234567890", "1048575"),
    ])
    func whatDoesNotCountIsLeftOut(text: String, equal: String) throws {
        #expect(try #require(AppVersion(text)).number == #require(AppVersion(equal)).number)
    }

    @Test(arguments: ["", ".", ".1", "v1", "beta", "-1", " 1", "١٢", "½", "\u{0}1"])
    func whatBeginsWithNoDigitIsNone(text: String) {
        #expect(AppVersion(text) == nil)
    }

    @Test func noTextCrashes() {
        var generator = SeededGenerator(seed: 5)
        let letters = Array("0123456789.-+ abv٣½\u{301}\u{1F426}")
        for _ in 0..<5000 {
            let text = String(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "0"
                }
            )
            let number = AppVersion(text)?.number ?? 0
            #expect(number >= 0, "\(text)")
        }
    }
}
