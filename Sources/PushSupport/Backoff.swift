import PushTypes

/// Exponential back-off with full jitter.
///
/// The limit of a delay doubles with each failure, from `base` to `maximum`. The delay itself is uniformly distributed
/// between zero and that limit, so that clients do not all return at the same time.
package struct Backoff: Hashable, Sendable {
    /// The maximum delay after the first failure.
    package var base: Duration
    /// The maximum delay after any number of failures.
    package var maximum: Duration

    package init(base: Duration, maximum: Duration) { (self.base, self.maximum) = (base, maximum) }

    /// Returns the maximum delay after this number of consecutive failures. A number below 1 counts as 1.
    package func limit(afterFailures failures: Int) -> Duration {
        var limit = self.base
        for _ in 1..<max(1, min(failures, 64)) where limit < self.maximum {
            limit *= 2
        }
        return min(limit, self.maximum)
    }

    /// Returns a random delay between zero and ``limit(afterFailures:)``, in whole milliseconds.
    package func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let (seconds, attoseconds) = self.limit(afterFailures: failures).components
        let milliseconds = Timestamp(seconds: seconds).milliseconds + attoseconds / 1_000_000_000_000_000
        return .milliseconds(Int64.random(in: 0...max(0, milliseconds), using: &generator))
    }
}
