import PushTypes

/// How long to wait before the next try: the limit doubles from `base` up to `maximum`, and the delay is drawn evenly
/// from zero to that limit ("full jitter"), so that many clients do not return at the same moment.
package struct Backoff: Hashable, Sendable {
    package var base: Duration
    package var maximum: Duration

    package init(base: Duration, maximum: Duration) {
        self.base = base
        self.maximum = maximum
    }

    /// The longest possible delay after `failures` failed tries in a row (1 or more).
    package func limit(afterFailures failures: Int) -> Duration {
        var limit = self.base
        for _ in 1..<max(1, min(failures, 64)) where limit < self.maximum {
            limit *= 2
        }
        return min(limit, self.maximum)
    }

    /// A delay between zero and ``limit(afterFailures:)``, in steps of a millisecond.
    package func delay(
        afterFailures failures: Int,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let (seconds, attoseconds) = self.limit(afterFailures: failures).components
        let milliseconds = Timestamp(seconds: seconds).milliseconds + attoseconds / 1_000_000_000_000_000
        return .milliseconds(Int64.random(in: 0...max(0, milliseconds), using: &generator))
    }
}
