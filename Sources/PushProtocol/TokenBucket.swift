/// So much of something per second, and a store of it for bursts. A value without I/O; time is passed in.
package struct TokenBucket: Sendable {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    private var filledAt: ContinuousClock.Instant

    /// - Parameters:
    ///   - rate: tokens per second in the long run.
    ///   - burst: tokens at once after a rest.
    package init(rate: Double, burst: Double, now: ContinuousClock.Instant) {
        self.rate = max(rate, 1e-3)
        self.burst = max(burst, 1e-3)
        self.tokens = self.burst
        self.filledAt = now
    }

    /// Takes `count` tokens if they are there.
    /// - Returns: `nil` if they were, else the time until they are.
    package mutating func take(_ count: Double = 1, now: ContinuousClock.Instant) -> Duration? {
        self.fill(now)
        guard self.tokens < count else {
            self.tokens -= count
            return nil
        }
        return .seconds((count - self.tokens) / self.rate)
    }

    /// Takes `count` tokens, also those that are not there yet.
    /// - Returns: the time after which the bucket owes nothing.
    package mutating func spend(_ count: Double, now: ContinuousClock.Instant) -> Duration {
        self.fill(now)
        self.tokens -= count
        return .seconds(max(0, -self.tokens) / self.rate)
    }

    /// Tells whether the bucket is as if it had never been used.
    package mutating func isFull(now: ContinuousClock.Instant) -> Bool {
        self.fill(now)
        return self.tokens >= self.burst
    }

    private mutating func fill(_ now: ContinuousClock.Instant) {
        guard now > self.filledAt else { return }
        self.tokens = min(self.burst, self.tokens + (now - self.filledAt) / .seconds(1) * self.rate)
        self.filledAt = now
    }
}
