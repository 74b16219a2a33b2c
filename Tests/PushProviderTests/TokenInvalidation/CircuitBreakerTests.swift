import Testing

@testable import PushProvider

@Suite struct CircuitBreakerTests {
    @Test func aFewDeadTokensDoNotOpenIt() {
        var breaker = CircuitBreaker()
        for _ in 0..<100 {
            let opened = breaker.record(.init(accepted: 95, dead: 5))
            #expect(!opened)
        }
        #expect(breaker.openReason == nil)
    }

    @Test func manyBadTokensOpenItOnce() {
        var breaker = CircuitBreaker()
        let early = breaker.record(.init(bad: 199))
        let opened = breaker.record(.init(bad: 1))
        let again = breaker.record(.init(bad: 1000))
        #expect([early, opened, again] == [false, true, false])
    }

    @Test func oldResponsesFade() {
        var breaker = CircuitBreaker()
        _ = breaker.record(.init(accepted: 1_000_000))
        var pages = 0
        while breaker.openReason == nil, pages < 100 {
            _ = breaker.record(.init(dead: 1000))
            pages += 1
        }
        #expect(pages < 5)
    }
}

extension CircuitBreaker {
    /// Counts responses about established tokens only.
    fileprivate mutating func record(_ established: Counts) -> Bool {
        self.record(established, others: Counts(), isProven: false)
    }
}
