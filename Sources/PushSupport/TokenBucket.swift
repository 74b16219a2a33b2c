/// A rate of something per second, with a store of it for bursts. A value without I/O; time is passed in.
///
/// A clock that is set back gives nothing and takes nothing. A moment of less than a second before the last one is another
/// thread's.
package struct TokenBucket<Time: InstantProtocol>: Sendable where Time.Duration == Duration {
    private let rate: Double
    private let burst: Double
    private var tokens: Double
    private var filledAt: Time

    /// - Parameters:
    ///   - rate: tokens per second in the long run.
    ///   - burst: tokens at once after a rest.
    package init(rate: Double, burst: Double, now: Time) {
        self.rate = max(rate, 1e-3)
        self.burst = max(burst, 1e-3)
        self.tokens = self.burst
        self.filledAt = now
    }

    /// Takes `count` tokens if they are there.
    /// - Returns: `nil` if they were, else the time until they are.
    package mutating func take(_ count: Double = 1, now: Time) -> Duration? {
        self.fill(now)
        guard self.tokens < count else {
            self.tokens -= count
            return nil
        }
        return .seconds((count - self.tokens) / self.rate)
    }

    /// Takes `count` tokens, also those that are not there yet.
    /// - Returns: the time after which the bucket owes nothing.
    package mutating func spend(_ count: Double, now: Time) -> Duration {
        self.fill(now)
        self.tokens -= count
        return .seconds(max(0, -self.tokens) / self.rate)
    }

    /// Tells whether the bucket is as if it had never been used.
    package mutating func isFull(now: Time) -> Bool {
        self.fill(now)
        return self.tokens >= self.burst
    }

    private mutating func fill(_ now: Time) {
        let elapsed = self.filledAt.duration(to: now)
        guard elapsed > .zero || elapsed < .seconds(-1) else { return }
        self.tokens = min(self.burst, self.tokens + max(.zero, elapsed) / .seconds(1) * self.rate)
        self.filledAt = now
    }
}
