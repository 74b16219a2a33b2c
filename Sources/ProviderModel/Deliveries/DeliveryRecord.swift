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
        /// The push may be in flight. This state is written only under the guarantee `atMostOnce`, and becomes ``unknown`` at
        /// the start after a crash.
        case sending = 0
        /// The push service accepted it.
        case accepted = 1
        /// The push service rejected it.
        case rejected = 2
        /// It could not be sent in time or within the allowed number of tries, and the push service has not accepted it.
        case failed = 3
        /// It was not sent, for example because the device was removed, or its token got the notification by another
        /// registration.
        case skipped = 4
        /// It was sent, its response was lost, and it is not sent again. It may have arrived.
        case unknown = 5

        /// The name in the API.
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
    /// The place of the notification in the list of all.
    package var position: NotificationCursor
    /// The recipient, unique within the notification: a device's id, or below zero for a named token.
    package var recipient: Int64
    /// The device; `nil` if the token is not registered.
    package var device: Int64?
    /// The token; `nil` once the device is gone.
    package var token: DeviceToken?
    package var environment: PushEnvironment?
    package var state: State
    /// The push service's reason, or the provider's own.
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp
    /// The receipts of the recipient, earliest first; empty where only counts are kept.
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

/// A place in a list of notifications. Only the store knows its meaning.
package struct NotificationCursor: Hashable, Sendable {
    package var number: Int64

    package init(number: Int64) { self.number = number }
}

extension DeliveryRecord.State {
    /// Returns the final state of a recipient that ends in this one.
    /// - Parameter mayHaveArrived: Indicates whether the response to an earlier try was lost. Then only a response of the
    ///   push service tells more than ``unknown``.
    package func ending(mayHaveArrived: Bool) -> Self {
        guard mayHaveArrived else { return self }
        return switch self {
        case .failed, .skipped: .unknown
        case .sending, .accepted, .rejected, .unknown: self
        }
    }
}

/// The cause for which a recipient is not tried, or not tried again. The raw value is the reason that the delivery gets.
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

    /// The final state of a recipient whose earlier tries did not reach the push service.
    package var state: DeliveryRecord.State {
        switch self {
        case .deviceRemoved, .hadAlready, .leftAudience, .otherKind, .erased: .skipped
        case .registeredElsewhere: .rejected
        case .unreadable, .cancelled: .failed
        case .interrupted: .unknown
        }
    }
}
