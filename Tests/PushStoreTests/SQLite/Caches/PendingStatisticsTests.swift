import ProviderModel
import PushTypes
import Testing

@testable import PushStore

@Suite struct PendingStatisticsTests {
    private let pending = PendingStatistics()
    private let now = Timestamp(seconds: 90)

    /// The numbers of an app with accepted recipients and a reason.
    private static func counts(_ accepted: Int64) -> [Int64: StatisticCounter.Counts] {
        var counts = StatisticCounter.Counts()
        counts.outcomes[0] = accepted
        counts.latency[1] = accepted
        counts.reasons[.init(state: 1, text: BytewiseString("late"))] = accepted
        return [7: counts]
    }

    private func accepted(_ numbers: PendingStatistics.Numbers) -> Int64? { numbers[60]?[7]?.outcomes[0] }

    /// Until the transaction with the numbers has ended, a reader has to wait for it.
    @Test func numbersMayBeMissingUntilTheirTransactionHasEnded() {
        #expect(!self.pending.needsWrite)
        self.pending.add(Self.counts(3), now: self.now)
        #expect(self.pending.needsWrite)
        let taken = self.pending.take()
        #expect(self.accepted(taken) == 3)
        #expect(self.pending.needsWrite)
        let empty = self.pending.take()
        #expect(empty.isEmpty)
        self.pending.written(empty)
        #expect(self.pending.needsWrite)
        self.pending.written(taken)
        #expect(!self.pending.needsWrite)
    }

    @Test func whatCouldNotBeWrittenIsWrittenLater() {
        self.pending.add(Self.counts(3), now: self.now)
        let taken = self.pending.take()
        self.pending.add(Self.counts(2), now: self.now)
        self.pending.restore(taken)
        let again = self.pending.take()
        #expect(self.accepted(again) == 5)
        self.pending.written(again)
        #expect(!self.pending.needsWrite)
    }

    /// A transaction that counted and then failed counts for nothing, also where its numbers were written before that is known.
    @Test func aTransactionThatFailedCountsForNothing() {
        self.pending.add(Self.counts(3), now: self.now)
        self.pending.remove(Self.counts(3), now: self.now)
        #expect(self.accepted(self.pending.take()) == 0)
        self.pending.add(Self.counts(3), now: self.now)
        self.pending.written(self.pending.take())
        self.pending.remove(Self.counts(3), now: self.now)
        let correction = self.pending.take()
        #expect(self.accepted(correction) == -3)
        #expect(correction[60]?[7]?.latency[1] == -3)
        #expect(correction[60]?[7]?.reasons.values.first == -3)
    }
}
