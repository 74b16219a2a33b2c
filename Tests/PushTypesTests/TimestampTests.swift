import PushTypes
import Testing

@Suite struct TimestampTests {
    @Test func secondsRoundTowardsThePast() {
        #expect(Timestamp(milliseconds: 1_500).seconds == 1)
        #expect(Timestamp(milliseconds: -1).seconds == -1)
    }

    @Test func extremesSaturateInsteadOfTrapping() {
        #expect(Timestamp(seconds: .max).milliseconds == .max)
        #expect(Timestamp(seconds: .min).milliseconds == .min)
        #expect(Timestamp(milliseconds: .max).advanced(by: .seconds(1)).milliseconds == .max)
        #expect(Timestamp(milliseconds: .min).advanced(by: .seconds(-1)).milliseconds == .min)
        #expect(Timestamp(milliseconds: .max).since(Timestamp(milliseconds: .min)) == .milliseconds(Int64.max))
    }

    @Test func advancingCountsFractionsOfASecond() {
        #expect(Timestamp(milliseconds: 0).advanced(by: .milliseconds(1_234)).milliseconds == 1_234)
        #expect(Timestamp(milliseconds: 0).advanced(by: .milliseconds(-1_234)).milliseconds == -1_234)
    }
}
