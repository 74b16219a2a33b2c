import PushSupport
import Testing

@Suite struct TokenBucketTableTests {
    private let start = ContinuousClock.now

    @Test func eachKeyHasABucketOfItsOwn() {
        let table = TokenBucketTable<Int>(rate: 1, burst: 1)
        let delays = [1, 1, 2].map { key in table.with(key, now: self.start) { $0.take(now: self.start) } }
        #expect(delays == [nil, .seconds(1), nil])
    }

    /// Many other keys take nothing of a bucket that is not full, and full ones do not stay.
    @Test func manyKeysCostNoBucketItsState() {
        let table = TokenBucketTable<Int>(rate: 0.001, burst: 1)
        _ = table.with(0, now: self.start) { $0.take(now: self.start) }
        for key in 1...10_000 { _ = table.with(key, now: self.start) { $0.take(now: self.start) } }
        let isEmpty = table.with(0, now: self.start) { $0.take(now: self.start) != nil }
        #expect(isEmpty)
        #expect(table.count == 10_001)
        let later = self.start + .seconds(1001)
        for key in 20_000...40_000 { _ = table.with(key, now: later) { $0.take(now: later) } }
        #expect(table.count < 25_000)
    }
}
