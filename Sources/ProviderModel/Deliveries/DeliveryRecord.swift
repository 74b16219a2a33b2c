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
