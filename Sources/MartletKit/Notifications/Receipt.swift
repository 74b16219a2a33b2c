import Foundation

/// A report to the provider about one event of a notification on this installation.
struct Receipt: Codable, Hashable, Sendable {
    /// The maximum length of the name of an action or a conversion, in bytes. Events with longer ones are not reported.
    static let maximumAction = 64

    /// The id of the receipt, by which the provider recognizes a receipt that it has already received.
    let id: UUID
    let notification: UUID
    let event: ReportedEvent
    /// The action that the user chose, or the name of a conversion, or `nil` for other events.
    let action: String?
    let at: Date
    /// The level of privacy that the notification and the user allowed when the receipt was created.
    let privacy: ReceiptPrivacy

    /// The name under which the receipt is stored. The app and its extension give an event the same name, so that it is
    /// reported once. Only a conversion can be repeated. Values from the payload are in the name only as a UUID and as
    /// hexadecimal digits.
    var name: String {
        let start = "\(Self.prefix)\(self.notification.uuidString)-\(self.event.rawValue)"
        if self.event == .converted { return "\(start)-\(self.id.uuidString)" }
        guard let action = self.action else { return start }
        return "\(start)-" + action.utf8.hexadecimal
    }

    /// Returns the receipt with its privacy limited to the level that the user allows, or `nil` for the level `none`.
    func bounded(by allowed: ReceiptPrivacy) -> Receipt? {
        let privacy = min(allowed, self.privacy)
        guard privacy != .none else { return nil }
        return Receipt(
            id: self.id,
            notification: self.notification,
            event: self.event,
            action: self.action,
            at: self.at,
            privacy: privacy
        )
    }

    /// The prefix of the names of all stored receipts.
    static let prefix = "receipt-"

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(self.id.uuidString), "notification": .string(self.notification.uuidString),
            "event": .string(self.event.rawValue),
            "at": .string(self.at.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
        ]
        members["action"] = self.action.map { .string($0) }
        return .object(members)
    }
}

/// A receipt as it is stored. A sent receipt stays stored, so that it is not created again.
struct StoredReceipt: Codable, Hashable, Sendable {
    let receipt: Receipt
    var isSent: Bool

    var data: Data { (try? JSONEncoder().encode(self)) ?? Data() }

    init(_ receipt: Receipt, isSent: Bool = false) { (self.receipt, self.isSent) = (receipt, isSent) }

    /// Decodes the receipt that is stored under a name. Returns `nil` for other data.
    init?(_ data: Data, name: String) {
        guard data.count <= 4096, let stored = try? JSONDecoder().decode(StoredReceipt.self, from: data),
            stored.receipt.name == name
        else { return nil }
        self = stored
    }
}

/// An event of a notification on the device that a receipt reports.
enum ReportedEvent: String, Hashable, Sendable, Codable, CaseIterable {
    /// The event that the app or its notification service extension has received the notification.
    case delivered
    /// The event that the notification was presented, so that the user could see it.
    case shown
    /// The event that the user opened the app with the notification.
    case opened
    /// The event that the user dismissed the notification.
    case dismissed
    /// The event that the user chose an action of the notification.
    case action
    /// The event that the user did what the notification was sent for, such as a purchase.
    case converted
}
