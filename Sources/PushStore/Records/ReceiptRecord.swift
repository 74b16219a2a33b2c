package import Foundation
package import PushTypes

/// The most that apps may tell of what became of a notification.
package enum ReceiptPrivacy: Int64, Hashable, Sendable, CaseIterable, Comparable {
    /// Nothing.
    case none = 0
    /// Counts. No row names a device, and times are rounded.
    case counts = 1
    /// The receipts of each device.
    case device = 2

    /// The name in the API, and in a payload.
    package var word: String {
        switch self {
        case .none: "none"
        case .counts: "counts"
        case .device: "device"
        }
    }

    package init?(word: String) {
        guard let privacy = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = privacy
    }

    /// Returns `true` if the first level tells less.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The event that a receipt reports.
package enum ReceiptEvent: Int64, Hashable, Sendable, CaseIterable {
    /// The device has it, by its app or by the gateway.
    case delivered = 1
    /// The user could see it.
    case shown = 2
    /// The user opened the app with it.
    case opened = 3
    /// The user removed it.
    case dismissed = 4
    /// The user chose one of its actions.
    case action = 5
    /// The user did what it was sent for.
    case converted = 6

    /// The name in the API.
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

    /// The name in the API.
    package var word: String { self == .app ? "app" : "gateway" }
}

/// A receipt as it arrives.
package struct Receipt: Hashable, Sendable {
    /// The id that its sender made once, so that a repetition is recognized.
    package var id: UUID
    package var event: ReceiptEvent
    /// The name of the action or of the conversion in Unicode's normalization form C, in which equal names have equal
    /// bytes; `nil` for other events.
    package let action: String?
    /// The time by the device's clock.
    package var at: Timestamp

    /// The longest name of an action, in bytes of normalization form C.
    package static let maximumAction = 64

    package init(id: UUID, event: ReceiptEvent, action: String? = nil, at: Timestamp) {
        (self.id, self.event, self.at) = (id, event, at)
        self.action = action?.precomposedStringWithCanonicalMapping
    }
}

/// Receipts that arrive together from one sender.
package struct ReceiptBatch: Hashable, Sendable {
    /// The sender, which has proven to be what it says.
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
        package var receipt: Receipt

        package init(_ receipt: Receipt, of subject: Subject) { (self.receipt, self.subject) = (receipt, subject) }
    }

    package var sender: Sender
    /// The most that the sender wants to be kept.
    package var privacy: ReceiptPrivacy
    package var entries: [Entry]

    package init(from sender: Sender, privacy: ReceiptPrivacy, _ entries: [Entry]) {
        (self.sender, self.privacy, self.entries) = (sender, privacy, entries)
    }
}

/// The result of a receipt.
package enum ReceiptResult: Hashable, Sendable {
    case accepted
    /// It was accepted before.
    case repeated
    case refused(ReceiptRefusal)
}

/// The cause for which a receipt is refused. Another try would not help.
package enum ReceiptRefusal: String, Hashable, Sendable, CaseIterable {
    /// The app has no such notification, or this installation has not had it.
    case unknownNotification = "unknown_notification"
    /// The notification ended too long ago.
    case tooLate = "too_late"
    /// The installation or the notification has as many as are kept.
    case tooMany = "too_many"
    /// The notification is sent without receipts.
    case receiptsOff = "receipts_off"
    /// A member cannot be read.
    case invalidValue = "invalid_value"
}

/// The bounds of what is kept of receipts.
package enum ReceiptLimits {
    /// The time after a notification's end until which its receipts are accepted.
    package static let latest: Duration = .seconds(30 * 86_400)
    /// The most receipts of one installation, notification and event.
    package static let perEvent = 20
    /// The most different names of actions and conversions of a notification.
    package static let actions = 50
    /// The unit to which times are rounded where only counts are kept: an hour, in milliseconds.
    static let rounding: Int64 = 3_600_000
}

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
package struct ReceiptNews: Hashable, Sendable {
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
