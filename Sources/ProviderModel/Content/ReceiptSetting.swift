import PushSupport
import PushTypes

/// The level of receipts of a notification, which its request or the app's setting decides.
struct ReceiptSetting {
    static let member = Member.receiptPrivacy("receipts")
        .described("The receipt level that apps may report at most. Default the app's.")

    /// The level that the request names, or `nil` if it names none.
    private let wanted: ReceiptLevel?
    let privacy: ReceiptLevel

    /// Reads the level that the request names.
    /// - Parameter standard: The app's level, which applies if the request names none.
    /// - Throws: ``RequestError`` if the request wants receipts of a push for which an app can send none.
    init(_ fields: JSONFields, _ pushType: PushType, isWallet: Bool, standard: ReceiptLevel) throws(RequestError) {
        self.wanted = try fields.value(Self.member)
        let isPossible = PayloadMarker.isPossible(pushType, isWallet: isWallet)
        if let wanted, wanted != .none, !isPossible {
            let message = "the app does not get the payload of this push, so that it can send no receipts"
            throw fields.error(Self.member.name, "conflicting_field", message)
        }
        self.privacy = isPossible ? self.wanted ?? standard : .none
    }

    /// Returns the level of receipts. It is `none`, with a warning, if the payloads have no room for the member
    /// `martlet` and the request names no level.
    func level(
        _ variants: [NotificationContent.Variant],
        _ plain: NotificationContent,
        _ warnings: inout [ContentWarning]
    ) throws(RequestError) -> ReceiptLevel {
        guard self.privacy != .none else { return .none }
        for variant in variants where variant.payload[PayloadMarker.name] != nil {
            let message = "with receipts the provider makes this member: choose another name, or receipts none"
            throw RequestError(
                .invalid,
                code: "reserved_field",
                message: message,
                path: variant.names.name([PayloadMarker.name])
            )
        }
        var content = plain
        content.receipts = self.privacy
        let limit = plain.maximumPayloadSize
        let isTooLarge = (try? NotificationContent.sizes(content))?.contains { $0.size > limit } ?? false
        guard isTooLarge, let warning = self.warning(limit: limit)
        else { return self.privacy }
        warnings.append(warning)
        return .none
    }

    /// Returns the warning for a payload that exceeds `limit` bytes with the member `martlet`, so that the notification
    /// is sent without receipts, or `nil` if the app's setting wants none, or the request names a level itself.
    private func warning(limit: Int) -> ContentWarning? {
        guard self.wanted == nil, self.privacy != .none else { return nil }
        let message = "it is sent without the app's receipts: with the member martlet it would exceed \(limit) bytes"
        return ContentWarning(field: Self.member.name, message: message)
    }
}
