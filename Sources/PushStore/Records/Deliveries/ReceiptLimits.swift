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
