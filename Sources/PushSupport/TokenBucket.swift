/// A token bucket: a rate per second that allows bursts. The time is an argument.
///
/// A clock that is set back neither adds nor removes tokens. A time that is less than a second before the last one was
/// read by another thread, and is ignored.
package struct TokenBucket<Time: InstantProtocol>: Sendable where Time.Duration == Duration {
    private let rate: Double
    /// The maximum number of tokens in the bucket, which can be taken at one moment.
    package let burst: Double
    private var tokens: Double
    private var filledAt: Time

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: The number of tokens that are added per second.
    ///   - burst: The maximum number of tokens in the bucket.
    ///   - now: The time from which tokens are added.
    package init(rate: Double, burst: Double, now: Time) {
        self.rate = max(rate, 1e-3)
        self.burst = max(burst, 1e-3)
        self.tokens = self.burst
        self.filledAt = now
    }

    /// Takes `count` tokens if the bucket has enough.
    /// - Returns: The time until the bucket will have enough, or `nil` if the tokens were taken.
    package mutating func take(_ count: Double = 1, now: Time) -> Duration? {
        self.fill(now)
        guard self.tokens < count else {
            self.tokens -= count
            return nil
        }
        return .seconds((count - self.tokens) / self.rate)
    }

    /// Takes `count` tokens, even if the bucket then has a negative number, a debt.
    /// - Returns: The time after which the debt is paid.
    package mutating func spend(_ count: Double, now: Time) -> Duration {
        self.fill(now)
        self.tokens -= count
        return .seconds(max(0, -self.tokens) / self.rate)
    }

    /// Returns whether the bucket is full, as a new bucket is.
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
