package import Foundation
package import PushTypes

/// A receipt as an installation or the gateway sends it: the report that something happened to a notification.
package struct IncomingReceipt: Hashable, Sendable {
    /// The id that the sender gave the receipt, by which a repetition is recognized.
    package var id: UUID
    package var event: ReceiptEvent
    /// The name of the action or the conversion, in Unicode's normalization form C, so that equal names have equal
    /// bytes, or `nil` for other events.
    package let action: String?
    /// The time of the event by the device's clock.
    package var at: Timestamp

    /// The maximum length of the name of an action, in bytes of normalization form C.
    package static let maximumAction = 64

    package init(id: UUID, event: ReceiptEvent, action: String? = nil, at: Timestamp) {
        (self.id, self.event, self.at) = (id, event, at)
        self.action = action?.precomposedStringWithCanonicalMapping
    }
}

/// Receipts that arrive together from one sender.
package struct ReceiptBatch: Hashable, Sendable {
    /// The sender, which has been authenticated.
    package enum Sender: Hashable, Sendable {
        /// An installation of an app.
        case installation(String, of: Topic)
        /// The gateway to which the provider sends.
        case gateway
    }

    /// A receipt with the notification that it names.
    package struct Entry: Hashable, Sendable {
        /// The notification, by its id or by the `apns-id` of one of its pushes.
        package enum Subject: Hashable, Sendable {
            case notification(UUID)
            case delivery(DeliveryPrefix, recipient: Int64)
        }

        package var subject: Subject
        package var receipt: IncomingReceipt

        package init(_ receipt: IncomingReceipt, of subject: Subject) {
            (self.receipt, self.subject) = (receipt, subject)
        }
    }

    package var sender: Sender
    /// The maximum level of receipts that the sender allows. The lower of this and the notification's level applies.
    package var privacy: ReceiptLevel
    package var entries: [Entry]

    package init(from sender: Sender, privacy: ReceiptLevel, _ entries: [Entry]) {
        (self.sender, self.privacy, self.entries) = (sender, privacy, entries)
    }
}

/// The result of processing a receipt.
package enum ReceiptResult: Hashable, Sendable {
    case accepted
    /// A result for a receipt whose id was accepted before, so that it does not count again.
    case repeated
    case refused(ReceiptRefusal)
}

/// The cause for which a receipt is refused. Sending the receipt again would not help.
package enum ReceiptRefusal: String, Hashable, Sendable, CaseIterable {
    /// A refusal because the app has no such notification, or the installation did not get it.
    case unknownNotification = "unknown_notification"
    /// A refusal because the notification ended too long ago (``ReceiptLimits/latest``).
    case tooLate = "too_late"
    /// A refusal because the notification has the maximum number of receipts, or of names of actions.
    case tooMany = "too_many"
    /// A refusal because the notification was sent without receipts.
    case receiptsOff = "receipts_off"
    /// A refusal because a member of the receipt has an invalid value.
    case invalidValue = "invalid_value"
}
