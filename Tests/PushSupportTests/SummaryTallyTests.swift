import PushSupport
import Testing

/// Sums for the log.
@Suite struct SummaryTallyTests {
    @Test func theLargestSumComesFirst() {
        var tally = SummaryTally<String>(maximumKeys: 10)
        tally.add("a")
        tally.add("b", count: 5)
        tally.add("a")
        let (sums, others) = tally.take()
        #expect(sums.map(\.key) == ["b", "a"])
        #expect(sums.map(\.count) == [5, 2])
        #expect(others == 0)
        #expect(tally.take().sums.isEmpty, "it begins anew")
    }

    @Test func whatHasNoRoomIsOneSum() {
        var tally = SummaryTally<Int>(maximumKeys: 3)
        for key in 0..<1000 { tally.add(key) }
        let (sums, others) = tally.take()
        #expect(sums.count == 3)
        #expect(others == 997)
    }
}
