package import PushStore
package import PushSupport
import PushTypes

/// The level of receipts of a notification, from its request and from the app's setting.
struct ReceiptSetting {
    static let member = "receipts"

    /// The level that the request names; `nil` if it names none.
    private let wanted: ReceiptPrivacy?
    let privacy: ReceiptPrivacy

    /// - Parameter standard: The app's level.
    /// - Throws: ``RequestError`` for receipts of a push from which there are none.
    init(
        _ fields: JSONFields,
        _ pushType: PushType,
        isWallet: Bool,
        standard: ReceiptPrivacy
    ) throws(RequestError) {
        self.wanted = try fields.receiptPrivacy(Self.member)
        let isPossible = PayloadMarker.isPossible(pushType, isWallet: isWallet)
        if let wanted, wanted != .none, !isPossible {
            let message = "the app does not get the payload of this push, so that it can send no receipts"
            throw fields.error(Self.member, "conflicting_field", message)
        }
        self.privacy = isPossible ? self.wanted ?? standard : .none
    }

    /// The warning of a notification that goes without the app's receipts, as its payload has no room for them; `nil` if
    /// the request itself wants them.
    func warning(limit: Int) -> ContentWarning? {
        guard self.wanted == nil, self.privacy != .none else { return nil }
        let message = "it is sent without the app's receipts: with the member martlet it would exceed \(limit) bytes"
        return ContentWarning(field: Self.member, message: message)
    }
}

extension JSONFields {
    /// Reads a level of receipts; `nil` if the member is absent.
    package func receiptPrivacy(_ name: String) throws(RequestError) -> ReceiptPrivacy? {
        let words = ReceiptPrivacy.allCases.map(\.word).joined(separator: ", ")
        return try self.value(name, maximum: 16, orElse: "invalid_value", "use one of \(words)") {
            ReceiptPrivacy(word: $0)
        }
    }
}
