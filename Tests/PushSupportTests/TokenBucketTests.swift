import PushSupport
import PushTypes
import Testing

@Suite struct TokenBucketTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    @Test func aBurstIsTakenAtOnceAndComesBackAtTheRate() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        let times = [0, 0, 0, 0, 0, 0, 100].map { self.start.advanced(by: .milliseconds($0)) }
        let delays = times.map { bucket.take(now: $0) }
        #expect(delays == [nil, nil, nil, nil, nil, .milliseconds(100), nil])
        let isFull = bucket.isFull(now: self.start.advanced(by: .seconds(1)))
        #expect(isFull)
    }

    @Test func spendingMoreThanThereIsMakesADebt() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        let debt = bucket.spend(15, now: self.start)
        #expect(debt == .seconds(1))
        let delay = bucket.take(now: self.start.advanced(by: .seconds(1)))
        #expect(delay == .milliseconds(100))
    }

    @Test func aClockThatIsSetBackChangesNothing() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        _ = bucket.spend(5, now: self.start)
        let earlier = self.start.advanced(by: .seconds(-3600))
        let delays = [earlier, earlier.advanced(by: .milliseconds(100))].map { bucket.take(now: $0) }
        #expect(delays == [.milliseconds(100), nil])
    }
}
