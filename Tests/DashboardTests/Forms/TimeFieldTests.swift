import PushSupport
import Testing

@testable import Dashboard

@Suite struct TimeFieldTests {
    @Test func aTimeOfAFieldIsInUTC() {
        #expect(TimeField.json("2026-11-23T10:00") == .string("2026-11-23T10:00:00Z"))
        #expect(TimeField.json("2026-11-23T10:00:30") == .string("2026-11-23T10:00:30Z"))
        #expect(TimeField.json("") == nil && TimeField.json(nil) == nil)
    }

    @Test(arguments: [
        "yesterday", "2026-13-01T10:00", "2026-11-23T25:00", "2026-11-23", "1795420800", "\u{600}\"><script>",
    ])
    func whatIsNoTimeIsLeftToTheAPIAndNotShownAgain(text: String) {
        #expect(TimeField.json(text) == .string(text))
        #expect(TimeField.value(text).isEmpty)
    }

    @Test func aTimeIsShownAgainAsItWasTyped() {
        #expect(TimeField.value("2026-11-23T10:00") == "2026-11-23T10:00")
        #expect(TimeField.value(nil).isEmpty)
    }
}
