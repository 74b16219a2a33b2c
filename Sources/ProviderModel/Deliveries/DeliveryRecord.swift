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
