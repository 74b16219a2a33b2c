import PushSupport
import Testing

@Suite struct BackoffTests {
    @Test func aBackoffDoublesUpToItsMaximumAndStaysWithinItsLimit() {
        let backoff = Backoff(base: .seconds(1), maximum: .seconds(60))
        #expect((1...8).map { backoff.limit(afterFailures: $0) } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(backoff.limit(afterFailures: .max) == .seconds(60))
        var generator = SystemRandomNumberGenerator()
        for failures in 1...20 {
            let delay = backoff.delay(afterFailures: failures, using: &generator)
            #expect(delay >= .zero && delay <= backoff.limit(afterFailures: failures))
        }
    }
}
