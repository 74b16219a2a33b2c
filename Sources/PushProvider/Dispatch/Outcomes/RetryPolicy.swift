import ProviderModel
package import PushSupport
import PushTypes

/// The maximum number of attempts for one recipient, and the delays between attempts. A delay always ends before the
/// expiry.
package struct RetryPolicy: Hashable, Sendable {
    /// The maximum number of attempts that reach the push service, after which the delivery ends. Default 8. Unsent
    /// pushes are retried until expiry.
    package var maximumAttempts = 8
    /// The random back-off after a failed attempt. Default up to 2 s after the first one, doubling to 15 min (reference
    /// 1.10).
    package var backoff = Backoff(base: .seconds(2), maximum: .seconds(15 * 60))
    /// The range of the random delay after a push was not sent for lack of a connection. Default 1 s to 60 s.
    package var unreachable: ClosedRange<Duration> = .seconds(1) ... .seconds(60)

    package init() {}

    func next(
        reason: String,
        attempts: Int,
        counts: Bool,
        mayHaveArrived: Bool,
        atLeast: Duration?,
        expires: Timestamp,
        clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision.Next {
        let end = DeliveryRecord.State.failed.ending(mayHaveArrived: mayHaveArrived)
        if counts, attempts >= self.maximumAttempts {
            return .final(end, reason: "\(attempts) tries failed; the last: \(reason)")
        }
        // The delay is drawn from the time left until the expiry. An attempt at the expiry itself is too late.
        let left = expires.since(clocks.earlier)
        let least = counts ? atLeast ?? .zero : self.unreachable.lowerBound
        guard least < left else {
            let again = mayHaveArrived ? " again" : ""
            return .final(end, reason: "expired before it could be sent\(again): \(reason)")
        }
        let delay: Duration
        if counts {
            var backoff = self.backoff
            backoff.maximum = min(backoff.maximum, left - .milliseconds(1))
            delay = max(least, backoff.delay(afterFailures: attempts, using: &generator))
        } else {
            let most = min(self.unreachable.upperBound, left)
            delay = least + (most - least) * Double.random(in: 0..<1, using: &generator)
        }
        return .retry(at: clocks.steady.advanced(by: delay), attempts: counts ? attempts : attempts - 1)
    }
}
