import Foundation
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes

/// What one outcome means for its recipient: a final state or another try; and what it says about the token.
package struct DeliveryDecision: Hashable, Sendable {
    package enum Next: Hashable, Sendable {
        case final(DeliveryRecord.State, reason: String?)
        /// - Parameters:
        ///   - at: of the steady clock.
        ///   - attempts: tries that count so far.
        case retry(at: Timestamp, attempts: Int)
    }

    /// What the answer says about the token, before anything else is known of it.
    package enum TokenAnswer: Hashable, Sendable {
        case dead(since: Timestamp)
        case bad
        /// Bad in its own environment; in the other one nobody could be asked.
        case unclear
    }

    package var next: Next
    package var token: TokenAnswer?
    package var reason: String?

    /// - Parameters:
    ///   - attempts: tries including this one.
    ///   - sentAt: before this try; a refusal that gives no time of its own counts from then.
    ///   - expires: after this moment no try makes sense.
    ///   - repeatsUnknown: whether what may have arrived is sent again (at least once) or not (at most once).
    package static func make(
        _ outcome: Outcome,
        attempts: Int,
        sentAt: Timestamp,
        expires: Timestamp,
        repeatsUnknown: Bool = true,
        policy: RetryPolicy,
        clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision {
        func again(_ reason: String, atLeast: Duration? = nil, counts: Bool = true) -> DeliveryDecision {
            DeliveryDecision(
                next: policy.next(
                    reason: reason,
                    attempts: attempts,
                    counts: counts,
                    atLeast: atLeast,
                    expires: expires,
                    clocks: clocks,
                    using: &generator
                ),
                reason: reason
            )
        }
        switch outcome {
        case .accepted: return DeliveryDecision(next: .final(.accepted, reason: nil))
        case .rejected(let rejection):
            let reason = rejection.reasonText.isEmpty ? "HTTP status \(rejection.status)" : rejection.reasonText
            let final = Next.final(.rejected, reason: reason)
            switch rejection.advice {
            case .dropToken:
                return DeliveryDecision(next: final, token: .dead(since: rejection.timestamp ?? sentAt), reason: reason)
            case .suspectToken: return DeliveryDecision(next: final, token: .bad, reason: reason)
            case .fixConfiguration, .fixNotification: return DeliveryDecision(next: final, reason: reason)
            case .retry(let after): return again(reason, atLeast: after)
            }
        case .notSent(let failure): return again(failure.description, counts: false)
        case .unknown(let failure):
            guard repeatsUnknown else {
                let reason = "it may have arrived, and at most once means not again: \(failure.description)"
                return DeliveryDecision(next: .final(.failed, reason: reason), reason: reason)
            }
            return again(failure.description)
        }
    }
}

/// When a failed try is repeated, and how often.
package struct RetryPolicy: Hashable, Sendable {
    /// Tries that reached the push service, in all. Default 8. What never left is tried until it expires.
    package var maximumAttempts = 8
    /// Default: up to 2 s after the first failure, doubling to 15 min (reference 1.10).
    package var backoff = Backoff(base: .seconds(2), maximum: .seconds(15 * 60))
    /// For what never left, because there was no connection. Default 1 s to 60 s.
    package var unreachable: ClosedRange<Duration> = .seconds(1) ... .seconds(60)

    package init() {}

    func next(
        reason: String,
        attempts: Int,
        counts: Bool,
        atLeast: Duration?,
        expires: Timestamp,
        clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision.Next {
        if counts, attempts >= self.maximumAttempts {
            return .final(.failed, reason: "\(attempts) tries failed; the last: \(reason)")
        }
        let delay: Duration
        if counts {
            delay = max(atLeast ?? .zero, self.backoff.delay(afterFailures: attempts, using: &generator))
        } else {
            let (low, high) = (self.unreachable.lowerBound, self.unreachable.upperBound)
            delay = low + (high - low) * Double.random(in: 0...1, using: &generator)
        }
        if clocks.earlier.advanced(by: delay) > expires {
            return .final(.failed, reason: "expired before it could be sent: \(reason)")
        }
        return .retry(at: clocks.steady.advanced(by: delay), attempts: counts ? attempts : attempts - 1)
    }
}
