import PushSupport
import PushTesting
import PushTypes
import Testing

/// The pauses of what has failed, and the tries that end them.
@Suite struct ProbingBreakerTests {
    private let time = ManualTime()

    private func openBreaker() -> ProbingBreaker {
        var breaker = ProbingBreaker(pause: .seconds(10), longestPause: .seconds(60))
        breaker.open(at: self.time.steady)
        return breaker
    }

    @Test func aClosedBreakerAdmitsAll() {
        var breaker = ProbingBreaker(pause: .seconds(10), longestPause: .seconds(60))
        for _ in 0..<3 { #expect(breaker.admit(at: self.time.steady) == nil) }
        breaker.failed(at: self.time.steady)
        breaker.notTried(at: self.time.steady)
        #expect(!breaker.isOpen && breaker.pausedUntil == nil)
    }

    @Test func oneTryFollowsThePause() {
        var breaker = self.openBreaker()
        #expect(breaker.isOpen && breaker.pausedUntil == self.time.steady.advanced(by: .seconds(10)))
        #expect(breaker.admit(at: self.time.steady) == .seconds(10))
        self.time.advance(by: .seconds(4))
        #expect(breaker.admit(at: self.time.steady) == .seconds(6))
        self.time.advance(by: .seconds(6))
        #expect(breaker.admit(at: self.time.steady) == nil)
        #expect(breaker.admit(at: self.time.steady) == .seconds(10), "the others wait for its end")
        #expect(breaker.isOpen && breaker.pausedUntil == nil)
        breaker.succeeded()
        #expect(!breaker.isOpen)
        #expect(breaker.admit(at: self.time.steady) == nil)
    }

    @Test func failedTriesDoubleThePause() {
        var breaker = self.openBreaker()
        for seconds in [10, 20, 40, 60, 60] {
            #expect(breaker.admit(at: self.time.steady) == .seconds(seconds))
            self.time.advance(by: .seconds(seconds))
            #expect(breaker.admit(at: self.time.steady) == nil)
            breaker.failed(at: self.time.steady)
        }
        breaker.succeeded()
        breaker.open(at: self.time.steady)
        #expect(breaker.admit(at: self.time.steady) == .seconds(10))
    }

    /// Tries that were under way when it opened end later.
    @Test func lateFailuresLengthenNothing() {
        var breaker = self.openBreaker()
        self.time.advance(by: .seconds(5))
        for _ in 0..<3 { breaker.failed(at: self.time.steady) }
        #expect(breaker.admit(at: self.time.steady) == .seconds(5))
    }

    @Test func aTryThatWasNotMadeLeavesItToTheNext() {
        var breaker = self.openBreaker()
        self.time.advance(by: .seconds(10))
        #expect(breaker.admit(at: self.time.steady) == nil)
        breaker.notTried(at: self.time.steady)
        #expect(breaker.isOpen)
        #expect(breaker.admit(at: self.time.steady) == nil)
        breaker.failed(at: self.time.steady)
        #expect(breaker.admit(at: self.time.steady) == .seconds(20))
    }
}
