/// The limits on receipts.
package enum ReceiptLimits {
    /// The maximum time after a notification's end at which its receipts are accepted. Later ones are refused.
    package static let latest: Duration = .seconds(30 * 86_400)
    /// The maximum number of receipts of one installation for one event of a notification. Further ones are refused.
    package static let perEvent = 20
    /// The maximum number of names of actions and conversions of a notification. Receipts with others are refused.
    package static let actions = 50
    /// The unit to which times are rounded where only counts are kept: an hour, in milliseconds.
    package static let rounding: Int64 = 3_600_000
}
