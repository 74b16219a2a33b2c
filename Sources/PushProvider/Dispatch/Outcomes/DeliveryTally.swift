import ProviderModel
import PushSender
import PushTypes

/// The results of one page, counted for ``DispatchMetrics``.
struct DeliveryTally: Hashable, Sendable {
    enum Result: String, Hashable, Sendable {
        case accepted, rejected, failed, skipped, unknown
        /// The result of a recipient for which another attempt is scheduled.
        case retried
    }

    /// The reason for a result, which becomes the label `reason` of the metric and has few possible values.
    enum Reason: Hashable, Sendable {
        case none
        /// The documented reason in the push service's response.
        case service(PushTypes.Reason)
        /// An undocumented reason in the push service's response.
        case other
        /// The reason of a push for which there was no connection, or no response.
        case connection
        /// The cause for which a recipient got its final state without an attempt, or without a further attempt.
        case ended(EndingCause)
        /// The reason why the recipient's preferences exclude the notification.
        case skipped(SkipReason)
        /// The cause for which no push was created: an expired notification, no credential, or failed rendering.
        case unsendable

        init(_ outcome: Outcome) {
            switch outcome {
            case .accepted: self = .none
            case .rejected(let rejection): self = rejection.reason.map(Self.service) ?? .other
            case .notSent(let failure) where failure.isOfPush: self = .unsendable
            case .notSent, .unknown: self = .connection
            }
        }

        /// The value of the metric's label `reason`, or `nil` if the result has no such label.
        var label: String? {
            switch self {
            case .none: nil
            case .service(let reason): reason.text
            case .ended(let cause): cause.label
            case .skipped(let reason): reason.label
            case .other: "other"
            case .connection: "connection"
            case .unsendable: "unsendable"
            }
        }
    }

    struct Kind: Hashable, Sendable {
        /// The environment, or `nil` if the recipient no longer exists.
        var environment: PushEnvironment?
        var result: Result
        var reason: Reason
    }

    private(set) var counts: [Kind: Int] = [:]

    mutating func add(_ result: Result, _ reason: Reason, in environment: PushEnvironment?, count: Int = 1) {
        guard count > 0 else { return }
        self.counts[Kind(environment: environment, result: result, reason: reason), default: 0] += count
    }
}

extension DeliveryTally.Result {
    init?(_ state: DeliveryRecord.State) {
        switch state {
        case .sending: return nil
        case .accepted: self = .accepted
        case .rejected: self = .rejected
        case .failed: self = .failed
        case .skipped: self = .skipped
        case .unknown: self = .unknown
        }
    }
}

extension SkipReason {
    fileprivate var label: String {
        switch self {
        case .optedOut: "opted_out"
        case .alertsNotAllowed: "alerts_not_allowed"
        case .noEncryptionKey: "no_encryption_key"
        case .quietHours: "quiet_hours"
        case .capReached: "cap_reached"
        }
    }
}

extension EndingCause {
    fileprivate var label: String {
        switch self {
        case .deviceRemoved: "device_removed"
        case .unreadable: "unreadable"
        case .cancelled: "cancelled"
        case .interrupted: "interrupted"
        case .hadAlready: "had_already"
        case .leftAudience: "left_audience"
        case .otherKind: "other_kind"
        case .erased: "erased"
        case .registeredElsewhere: Reason.badDeviceToken.text
        }
    }
}
