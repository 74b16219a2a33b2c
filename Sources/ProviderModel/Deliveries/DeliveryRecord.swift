package import Foundation
package import PushTypes

/// The number of a notification's recipients that were skipped for one reason.
package struct SkipCount: Hashable, Sendable {
    package var reason: String
    package var count: Int

    package init(reason: String, count: Int) { (self.reason, self.count) = (reason, count) }
}

/// The state of one recipient of a notification.
package struct DeliveryRecord: Hashable, Sendable {
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

    package var notification: UUID
    /// The position of the notification in the list of all notifications.
    package var position: NotificationCursor
    /// The id of the recipient in the notification: that of a device, or a negative number for a named token.
    package var recipient: Int64
    /// The id of the recipient's device, or `nil` if the token is not registered.
    package var device: Int64?
    /// The token, or `nil` once the device has been removed.
    package var token: DeviceToken?
    package var environment: PushEnvironment?
    package var state: State
    /// The reason for the state, given by the push service or the provider, or `nil` if there is none.
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp
    /// The receipts of the recipient, earliest first. The list is empty where only counts are kept.
    package var receipts: [ReceiptRecord] = []

    package init(
        notification: UUID,
        position: NotificationCursor,
        recipient: Int64,
        device: Int64? = nil,
        token: DeviceToken? = nil,
        environment: PushEnvironment? = nil,
        state: State,
        reason: String? = nil,
        attempts: Int,
        at: Timestamp,
        receipts: [ReceiptRecord] = []
    ) {
        (self.notification, self.position, self.recipient) = (notification, position, recipient)
        (self.device, self.token, self.environment, self.state) = (device, token, environment, state)
        (self.reason, self.attempts, self.at, self.receipts) = (reason, attempts, at, receipts)
    }
}

/// A position in a list of notifications. Only the store knows its meaning.
package struct NotificationCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) { self.number = number }
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
