import ProviderModel
import PushSender
import PushSupport
import PushTypes

/// The consequence of a push outcome: a final state or another attempt, and possibly a change of the token.
struct DeliveryDecision: Hashable, Sendable {
    enum Next: Hashable, Sendable {
        case final(DeliveryRecord.State, reason: String?)
        /// The decision to make another attempt.
        /// - Parameters:
        ///   - at: The time of the attempt, by the steady clock.
        ///   - attempts: The number of attempts so far that count towards the maximum.
        case retry(at: Timestamp, attempts: Int)
    }

    var next: Next
    /// The change of the token that the response suggests: ``TokenStateChange/Kind/deactivated(since:)`` if the push
    /// service reports the token as permanently invalid, ``TokenStateChange/Kind/suspected`` if it reports a bad token,
    /// and `nil` otherwise. The token invalidation policy decides whether to apply the change.
    var token: TokenStateChange.Kind?
    var reason: String?
    /// A Boolean value that indicates whether the response to this attempt or an earlier one was lost.
    var mayHaveArrived = false
    /// A Boolean value that indicates whether the push was handed to the push service, with or without a response.
    var wasSent = true

    /// Decides the consequence of an outcome.
    /// - Parameters:
    ///   - attempts: The number of attempts, including this one.
    ///   - sentAt: The time of this attempt, from which a token counts as invalid after a 410 without a timestamp.
    ///   - expires: The time after which no further attempt is made.
    ///   - mayHaveArrived: `true` if the response to an earlier attempt was lost.
    ///   - repeatsUnknown: `true` to repeat a push that may have arrived (at least once), `false` not to (at most
    ///     once).
    static func make(
        _ outcome: Outcome,
        attempts: Int,
        sentAt: Timestamp,
        expires: Timestamp,
        mayHaveArrived: Bool = false,
        repeatsUnknown: Bool = true,
        policy: RetryPolicy,
        clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryDecision {
        func retry(_ reason: String, atLeast: Duration? = nil, counts: Bool = true, isUnknown: Bool = false)
            -> DeliveryDecision
        {
            DeliveryDecision(
                next: policy.next(
                    reason: reason,
                    attempts: attempts,
                    counts: counts,
                    mayHaveArrived: mayHaveArrived || isUnknown,
                    atLeast: atLeast,
                    expires: expires,
                    clocks: clocks,
                    using: &generator
                ),
                reason: reason,
                mayHaveArrived: mayHaveArrived || isUnknown,
                wasSent: counts
            )
        }
        switch outcome {
        case .accepted: return DeliveryDecision(next: .final(.accepted, reason: nil))
        case .rejected(let rejection):
            let reason = rejection.reasonText.isEmpty ? "HTTP status \(rejection.status)" : rejection.reasonText
            let final = Next.final(.rejected, reason: reason)
            switch rejection.advice {
            case .dropToken:
                return DeliveryDecision(
                    next: final,
                    token: .deactivated(since: rejection.timestamp ?? sentAt),
                    reason: reason
                )
            case .suspectToken: return DeliveryDecision(next: final, token: .suspected, reason: reason)
            case .fixNotification: return DeliveryDecision(next: final, reason: reason)
            // Until the fault is proven and the environment paused, the push is tried again like any other.
            case .fixConfiguration: return retry(reason)
            case .retry(let after): return retry(reason, atLeast: after)
            }
        case .notSent(let failure) where failure.isOfPush:
            let reason = failure.description
            let end = DeliveryRecord.State.failed.ending(mayHaveArrived: mayHaveArrived)
            return DeliveryDecision(
                next: .final(end, reason: reason),
                reason: reason,
                mayHaveArrived: mayHaveArrived,
                wasSent: false
            )
        case .notSent(let failure): return retry(failure.description, counts: false)
        case .unknown(let failure):
            guard repeatsUnknown else {
                let reason = "it may have arrived, and at most once means not again: \(failure.description)"
                return DeliveryDecision(next: .final(.unknown, reason: reason), reason: reason)
            }
            return retry(failure.description, isUnknown: true)
        }
    }
}
