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
    /// The id of the device that sent the receipt, or `nil` if only counts are kept or the token has no device.
    package var device: Int64?
    /// The number by which the receipts of one installation are grouped in a list. It has no meaning of its own.
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

/// The position of a receipt in the list of a notification's receipts.
package struct ReceiptPlace: Hashable, Sendable {
    package var subject, event, id: Int64

    package init(subject: Int64, event: Int64, id: Int64) { (self.subject, self.event, self.id) = (subject, event, id) }
}

/// A part of the list of a notification's receipts.
package struct ReceiptPage: Hashable, Sendable {
    /// The receipts, without those that are damaged or of a later version.
    package var receipts: [ReceiptRecord]
    /// The position after which the next page begins, or `nil` at the end of the list.
    package var next: ReceiptPlace?

    package init(_ receipts: [ReceiptRecord], next: ReceiptPlace?) { (self.receipts, self.next) = (receipts, next) }
}

/// The numbers of receipts of a notification for one event, or for one action.
package struct ReceiptCount: Hashable, Sendable {
    package var event: ReceiptEvent
    /// The name of the action or of the conversion, or `nil` for the event as a whole.
    package var action: String?
    /// The number of different installations that sent receipts for the event or action.
    package var unique: Int
    /// The number of receipts for the event or action.
    package var total: Int

    package init(event: ReceiptEvent, action: String? = nil, unique: Int, total: Int) {
        (self.event, self.action, self.unique, self.total) = (event, action, unique, total)
    }
}

/// A receipt that has just been stored, to be sent to webhooks.
package struct NewReceipt: Hashable, Sendable {
    package var id: UUID
    package var notification: UUID
    package var record: ReceiptRecord
    /// The id of the notification's recipient, or `nil` where only counts are kept.
    package var recipient: Int64?
    /// The device's token, environment and user, or `nil` where only counts are kept, or if they are not known.
    package var token: DeviceToken?
    package var environment: PushEnvironment?
    package var user: String?

    package init(
        id: UUID,
        notification: UUID,
        record: ReceiptRecord,
        recipient: Int64? = nil,
        token: DeviceToken? = nil,
        environment: PushEnvironment? = nil,
        user: String? = nil
    ) {
        (self.id, self.notification, self.record, self.recipient) = (id, notification, record, recipient)
        (self.token, self.environment, self.user) = (token, environment, user)
    }
}

/// The event that a receipt reports.
package enum ReceiptEvent: Int64, Hashable, Sendable, CaseIterable {
    /// The event that the device received the notification, as reported by its app or the gateway.
    case delivered = 1
    /// The event that the notification was presented, so that the user could see it.
    case shown = 2
    /// The event that the user opened the app with the notification.
    case opened = 3
    /// The event that the user removed the notification.
    case dismissed = 4
    /// The event that the user chose one of the notification's actions.
    case action = 5
    /// The event that the user did what the notification aims at, such as a purchase, as the app reports.
    case converted = 6

    package var word: String {
        switch self {
        case .delivered: "delivered"
        case .shown: "shown"
        case .opened: "opened"
        case .dismissed: "dismissed"
        case .action: "action"
        case .converted: "converted"
        }
    }

    package init?(word: String) {
        guard let event = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = event
    }
}

/// The program that reported a receipt.
package enum ReceiptSource: Int64, Hashable, Sendable, CaseIterable {
    case app = 0
    case gateway = 1

    package var word: String { self == .app ? "app" : "gateway" }
}

/// The place up to which the events of a gateway have been read: the newest event that was read.
package struct GatewayCursor: Hashable, Sendable {
    /// The number of the newest event that was read, or 0 before the first one.
    package var position: Int64
    /// The time of the newest event that was read, which distinguishes it from an event with the same number in another
    /// log, or `nil` if it is not known.
    package var at: Timestamp?

    package init(position: Int64, at: Timestamp? = nil) { (self.position, self.at) = (position, at) }
}
