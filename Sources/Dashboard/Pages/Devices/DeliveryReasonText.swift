import WebPages

/// The explanations for the reasons of deliveries, in plain language and with the remedy.
enum DeliveryReasonText {
    /// Returns the explanation for a reason, or `nil` for a reason that has none.
    static func explanation(_ reason: String, _ texts: LocalizedTexts) -> String? {
        if let text = texts.text("reasons.\(reason)") { return text }
        return Self.beginnings.first { reason.hasPrefix($0) }.flatMap { texts.text("reasons.\($0)") }
    }

    private static let beginnings = ["opted out of", "BadDeviceToken", "expired before it could be sent"]
}
