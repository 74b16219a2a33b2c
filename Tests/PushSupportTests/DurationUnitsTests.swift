import PushSupport
import Testing

/// Durations as numbers and as text.
@Suite struct DurationUnitsTests {
    @Test func wholeUnitsSaturate() {
        #expect(Duration.milliseconds(1234).milliseconds == 1234)
        #expect(Duration.microseconds(-1500).microseconds == -1500)
        #expect(Duration.microseconds(1999).milliseconds == 1)
        #expect(Duration.milliseconds(Int64.max).milliseconds == .max)
        #expect(Duration.milliseconds(Int64.min).milliseconds == .min)
        #expect(Duration.milliseconds(Int64.max).microseconds == .max)
        #expect(Duration.seconds(Int64.min).microseconds == .min)
    }

    @Test(
        arguments: [
            (.zero, "less than 1 ms"), (.milliseconds(-5), "less than 1 ms"), (.microseconds(20), "20 µs"),
            (.milliseconds(42), "42 ms"), (.seconds(12), "12 s"), (.seconds(660), "11 min"),
            (.seconds(7500), "2 h 5 min"),
            (.seconds(3 * 86_400), "3 d 0 h"), (.seconds(Int64.max), "106751991167300 d 15 h"),
        ] as [(Duration, String)]
    )
    func textsAreForPeople(duration: Duration, text: String) {
        #expect(duration.readable == text)
    }
}
