import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct PublishCoalescerTests {
    private func at(_ seconds: Int64) -> Timestamp { Vectors.issuedAt.advanced(by: .seconds(seconds)) }

    @Test func aBurstIsOnePushAtOnceAndOneAtTheEnd() {
        var coalescer = PublishCoalescer()
        #expect(coalescer.decide("n", isImportant: true, now: self.at(0)) == .send(at: self.at(0)))
        #expect(coalescer.decide("n", isImportant: true, now: self.at(1)) == .send(at: self.at(20)))
        for second in 2..<20 as Range<Int64> {
            #expect(coalescer.decide("n", isImportant: true, now: self.at(second)) == .covered)
        }
        // The push of the end begins an interval of its own.
        #expect(coalescer.decide("n", isImportant: true, now: self.at(20)) == .send(at: self.at(40)))
        #expect(coalescer.decide("n", isImportant: true, now: self.at(41)) == .send(at: self.at(60)))
        #expect(coalescer.decide("n", isImportant: true, now: self.at(80)) == .send(at: self.at(80)))
    }

    @Test func nodesDoNotWaitForEachOther() {
        var coalescer = PublishCoalescer()
        #expect(coalescer.decide("a", isImportant: true, now: self.at(0)) == .send(at: self.at(0)))
        #expect(coalescer.decide("b", isImportant: true, now: self.at(0)) == .send(at: self.at(0)))
    }

    @Test func anImportantOneDoesNotWaitForAnUnimportantOne() {
        var coalescer = PublishCoalescer()
        #expect(coalescer.decide("n", isImportant: false, now: self.at(0)) == .send(at: self.at(0)))
        #expect(coalescer.decide("n", isImportant: true, now: self.at(1)) == .send(at: self.at(1)))
        #expect(coalescer.decide("n", isImportant: false, now: self.at(2)) == .send(at: self.at(21)))
        // What is to come is unimportant, and covers no important one.
        #expect(coalescer.decide("n", isImportant: true, now: self.at(3)) == .send(at: self.at(21)))
        #expect(coalescer.decide("n", isImportant: false, now: self.at(4)) == .covered)
    }

    @Test func aPushThatFailedCoversNothing() {
        var coalescer = PublishCoalescer()
        _ = coalescer.decide("n", isImportant: true, now: self.at(0))
        coalescer.forget("n")
        #expect(coalescer.decide("n", isImportant: true, now: self.at(1)) == .send(at: self.at(1)))
    }
}
