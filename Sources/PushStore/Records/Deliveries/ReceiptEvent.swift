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
