import WebPages

/// The explanation of why a notification did not arrive, in plain words with the remedy.
enum ReasonText {
    /// Returns the explanation of a delivery's reason; `nil` where the reason says all there is.
    static func explanation(_ reason: String, _ texts: LocalizedTexts) -> String? {
        if let text = texts.text("reasons.\(reason)") { return text }
        return Self.beginnings.first { reason.hasPrefix($0) }.flatMap { texts.text("reasons.\($0)") }
    }

    /// The beginnings of reasons that end with a name or a number.
    private static let beginnings = ["opted out of", "BadDeviceToken", "expired before it could be sent"]
}
