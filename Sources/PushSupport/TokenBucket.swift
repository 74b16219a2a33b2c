/// A token bucket: a rate per second with room for bursts. The time is passed in.
///
/// A clock that is set back neither adds nor removes tokens. A time that is less than a second before the last one was read
/// by another thread, and is ignored.
package struct TokenBucket<Time: InstantProtocol>: Sendable where Time.Duration == Duration {
    private let rate: Double
    /// The tokens of a full bucket.
    package let burst: Double
    private var tokens: Double
    private var filledAt: Time

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: The tokens per second.
    ///   - burst: The tokens of a full bucket.
    ///   - now: The time from which tokens are added.
    package init(rate: Double, burst: Double, now: Time) {
        self.rate = max(rate, 1e-3)
        self.burst = max(burst, 1e-3)
        self.tokens = self.burst
        self.filledAt = now
    }

    /// Takes `count` tokens if the bucket has them.
    /// - Returns: `nil` if the tokens were taken; otherwise the time until the bucket has them.
    package mutating func take(_ count: Double = 1, now: Time) -> Duration? {
        self.fill(now)
        guard self.tokens < count else {
            self.tokens -= count
            return nil
        }
        return .seconds((count - self.tokens) / self.rate)
    }

    /// Takes `count` tokens, even if the bucket has fewer.
    /// - Returns: The time after which the debt is paid.
    package mutating func spend(_ count: Double, now: Time) -> Duration {
        self.fill(now)
        self.tokens -= count
        return .seconds(max(0, -self.tokens) / self.rate)
    }

    /// Returns `true` if the bucket is full, like a new one.
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
