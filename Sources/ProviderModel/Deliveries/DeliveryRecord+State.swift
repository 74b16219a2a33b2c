extension DeliveryRecord {
    /// The state of a recipient. All but ``sending`` are final.
    package enum State: Int64, Hashable, Sendable, CaseIterable {
        /// The state of a recipient whose push may be in flight. It is written only under the guarantee `atMostOnce`,
        /// and becomes ``unknown`` when the provider starts after a crash.
        case sending = 0
        /// The final state of a recipient whose push the push service accepted.
        case accepted = 1
        /// The final state of a recipient whose push the push service rejected.
        case rejected = 2
        /// The final state of a recipient whose push could not be sent in time or in the allowed attempts.
        case failed = 3
        /// The final state of a recipient to which nothing was sent, for example because the device was removed, or its
        /// token got the notification through another registration.
        case skipped = 4
        /// The final state of a recipient whose push may have arrived, because only its response was lost.
        case unknown = 5

        /// The name of the state in the API.
        package var word: String {
            switch self {
            case .sending: "sending"
            case .accepted: "accepted"
            case .rejected: "rejected"
            case .failed: "failed"
            case .skipped: "skipped"
            case .unknown: "unknown"
            }
        }
    }
}

extension DeliveryRecord.State {
    /// Returns the final state of a recipient whose last attempt ended in this state.
    /// - Parameter mayHaveArrived: Whether the response to an earlier attempt was lost. If so, ``failed`` and
    ///   ``skipped`` become ``unknown``.
    package func ending(mayHaveArrived: Bool) -> Self {
        guard mayHaveArrived else { return self }
        return switch self {
        case .failed, .skipped: .unknown
        case .sending, .accepted, .rejected, .unknown: self
        }
    }
}

/// The cause for which no further attempt is made for a recipient. The raw value becomes the delivery's reason.
package enum EndingCause: String, Hashable, Sendable {
    case deviceRemoved = "the device was removed before it could be sent"
    case unreadable = "what is stored of its device cannot be read"
    case cancelled = "cancelled before it could be sent"
    case interrupted = "the server ended while this was being sent; at most once means not again"
    case hadAlready = "its token has had this by another registration"
    case leftAudience = "the device is not in the audience any more"
    case otherKind = "the token is of another kind than the push type needs"
    case erased = "its user was erased before it could be sent"
    case registeredElsewhere = "BadDeviceToken, and the token is registered in the other environment too"

    /// The final state of a recipient whose earlier attempts did not reach the push service.
    package var state: DeliveryRecord.State {
        switch self {
        case .deviceRemoved, .hadAlready, .leftAudience, .otherKind, .erased: .skipped
        case .registeredElsewhere: .rejected
        case .unreadable, .cancelled: .failed
        case .interrupted: .unknown
        }
    }
}
