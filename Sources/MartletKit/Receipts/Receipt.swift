import Foundation

/// One event of one notification, as the provider hears of it.
struct Receipt: Codable, Hashable, Sendable {
    /// The longest name of an action or a conversion, in bytes.
    static let maximumAction = 64

    /// Made once, so that the provider knows a receipt that it has already.
    let id: UUID
    let notification: UUID
    let event: ReportedEvent
    /// The action that the user chose, or the name of a conversion.
    let action: String?
    let at: Date
    /// The level that the notification and the user allowed when it was made.
    let privacy: ReceiptPrivacy

    /// The name under which it is stored. It is the same for the same event, in whichever process that is seen, so that it is
    /// made once; only conversions can happen again. It has nothing of a payload but a UUID and hexadecimal digits.
    var name: String {
        let start = "\(Self.prefix)\(self.notification.uuidString)-\(self.event.rawValue)"
        if self.event == .converted { return "\(start)-\(self.id.uuidString)" }
        guard let action = self.action else { return start }
        return "\(start)-" + action.utf8.hexadecimal
    }

    /// Returns the receipt at the level that the user allows too; `nil` for none.
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

    /// All names of receipts begin with it.
    static let prefix = "receipt-"

    /// The receipt in a request.
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

/// A receipt as it is stored. One that the provider has stays, so that it is not made again.
struct StoredReceipt: Codable, Hashable, Sendable {
    let receipt: Receipt
    var isSent: Bool

    var data: Data { (try? JSONEncoder().encode(self)) ?? Data() }

    init(_ receipt: Receipt, isSent: Bool = false) { (self.receipt, self.isSent) = (receipt, isSent) }

    /// Reads what is stored under a name; `nil` if it is no receipt of that name.
    init?(_ data: Data, name: String) {
        guard data.count <= 4096, let stored = try? JSONDecoder().decode(StoredReceipt.self, from: data),
            stored.receipt.name == name
        else { return nil }
        self = stored
    }
}
