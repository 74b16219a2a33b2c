import Foundation
package import PushProtocol
package import PushSender
package import PushStore

/// What one outcome means for its recipient: a final state, or another try; and what it says about the token.
package struct DeliveryDecision: Hashable, Sendable {
    package enum Next: Hashable, Sendable {
        case final(DeliveryRecord.State, reason: String?)
        case retry(at: Timestamp)
    }

    package var next: Next
    package var verdict: TokenFinding.Verdict?

    /// - Parameters:
    ///   - attempts: tries including this one.
    ///   - sentAt: before this try; a refusal that gives no time of its own counts from then.
    ///   - expires: after this moment no try makes sense.
    package static func make(
        _ outcome: Outcome,
        attempts: Int,
        sentAt: Timestamp,
        expires: Timestamp,
        policy: RetryPolicy,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision {
        switch outcome {
        case .accepted:
            return DeliveryDecision(next: .final(.accepted, reason: nil), verdict: .good)
        case .rejected(let rejection):
            let reason = rejection.reasonText.isEmpty ? "HTTP status \(rejection.status)" : rejection.reasonText
            switch rejection.advice {
            case .dropToken:
                let since = rejection.timestamp ?? sentAt
                return DeliveryDecision(next: .final(.rejected, reason: reason), verdict: .dead(since: since))
            case .suspectToken:
                return DeliveryDecision(next: .final(.rejected, reason: reason), verdict: .suspect)
            case .fixConfiguration, .fixNotification:
                return DeliveryDecision(next: .final(.rejected, reason: reason))
            case .retry(let after):
                let next = policy.next(
                    reason: reason,
                    attempts: attempts,
                    atLeast: after,
                    expires: expires,
                    now: now,
                    using: &generator
                )
                return DeliveryDecision(next: next)
            }
        case .notSent(let failure), .unknown(let failure):
            let next = policy.next(
                reason: failure.description,
                attempts: attempts,
                atLeast: nil,
                expires: expires,
                now: now,
                using: &generator
            )
            return DeliveryDecision(next: next)
        }
    }
}

/// When a failed try is repeated, and how often.
package struct RetryPolicy: Hashable, Sendable {
    /// Tries in all. Default 8.
    package var maximumAttempts = 8
    /// Default: up to 2 s after the first failure, doubling to 15 min (reference 1.10).
    package var backoff = Backoff(base: .seconds(2), maximum: .seconds(15 * 60))

    package init() {}

    func next(
        reason: String,
        attempts: Int,
        atLeast: Duration?,
        expires: Timestamp,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision.Next {
        guard attempts < self.maximumAttempts else {
            return .final(.failed, reason: "\(attempts) tries failed; the last: \(reason)")
        }
        let delay = max(atLeast ?? .zero, self.backoff.delay(afterFailures: attempts, using: &generator))
        let at = now.advanced(by: delay)
        if at > expires { return .final(.failed, reason: "expired before it could be sent: \(reason)") }
        return .retry(at: at)
    }
}
