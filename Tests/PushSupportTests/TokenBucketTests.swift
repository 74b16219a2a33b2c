import PushSupport
import PushTypes
import Testing

@Suite struct TokenBucketTests {
    private let start = Timestamp(seconds: 1_700_000_000)

    @Test func aBurstIsTakenAtOnceAndComesBackAtTheRate() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        for _ in 0..<5 { #expect(bucket.take(now: self.start) == nil) }
        #expect(bucket.take(now: self.start) == .milliseconds(100))
        #expect(bucket.take(now: self.start.advanced(by: .milliseconds(100))) == nil)
        #expect(bucket.isFull(now: self.start.advanced(by: .seconds(1))))
    }

    @Test func spendingMoreThanThereIsMakesADebt() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        #expect(bucket.spend(15, now: self.start) == .seconds(1))
        #expect(bucket.take(now: self.start.advanced(by: .seconds(1))) == .milliseconds(100))
    }

    @Test func aClockThatIsSetBackChangesNothing() {
        var bucket = TokenBucket(rate: 10, burst: 5, now: self.start)
        _ = bucket.spend(5, now: self.start)
        let earlier = self.start.advanced(by: .seconds(-3600))
        #expect(bucket.take(now: earlier) == .milliseconds(100))
        #expect(bucket.take(now: earlier.advanced(by: .milliseconds(100))) == nil)
    }
}
