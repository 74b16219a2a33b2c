package import Foundation
package import PushTypes

/// A receipt as it is stored.
package struct ReceiptRecord: Hashable, Sendable {
    package var event: ReceiptEvent
    package var action: String?
    package var source: ReceiptSource
    /// The time by the device's clock, between the notification's acceptance and ``receivedAt``.
    package var at: Timestamp
    package var receivedAt: Timestamp
    /// The device; `nil` where only counts are kept, and for a token without a device.
    package var device: Int64?
    /// The number under which the receipts of one installation stand together in the list of a notification.
    package var subject: Int64

    package init(
        event: ReceiptEvent,
        action: String?,
        source: ReceiptSource,
        at: Timestamp,
        receivedAt: Timestamp,
        device: Int64?,
        subject: Int64
    ) {
        (self.event, self.action, self.source) = (event, action, source)
        (self.at, self.receivedAt, self.device, self.subject) = (at, receivedAt, device, subject)
    }
}

/// The place of a receipt in the list of a notification's receipts: its key.
package struct ReceiptPlace: Hashable, Sendable {
    package var subject, event, id: Int64

    package init(subject: Int64, event: Int64, id: Int64) {
        (self.subject, self.event, self.id) = (subject, event, id)
    }
}

/// A part of the list of a notification's receipts.
package struct ReceiptPage: Hashable, Sendable {
    /// The receipts, without those that cannot be read or are of a later version.
    package var receipts: [ReceiptRecord]
    /// The place of the last one that was looked at; `nil` at the end of the list.
    package var next: ReceiptPlace?

    package init(_ receipts: [ReceiptRecord], next: ReceiptPlace?) { (self.receipts, self.next) = (receipts, next) }
}

/// The numbers of receipts of a notification for one event, or for one action.
package struct ReceiptCount: Hashable, Sendable {
    package var event: ReceiptEvent
    /// The name of the action or of the conversion; `nil` for the event as a whole.
    package var action: String?
    /// The number of installations.
    package var unique: Int
    /// The number of receipts.
    package var total: Int

    package init(event: ReceiptEvent, action: String? = nil, unique: Int, total: Int) {
        (self.event, self.action, self.unique, self.total) = (event, action, unique, total)
    }
}

/// A receipt that has just been stored, for webhooks.
package struct NewReceipt: Hashable, Sendable {
    package var id: UUID
    package var notification: UUID
    package var record: ReceiptRecord
    /// The recipient of the notification; `nil` where only counts are kept.
    package var recipient: Int64?
    /// Facts about the device; `nil` where only counts are kept, or nothing is known.
    package var token: DeviceToken?
    package var environment: PushEnvironment?
    package var user: String?
}
