/// The level of privacy of receipts, from the strictest. The user, the app and each notification determine a level, of
/// which the strictest applies.
public enum ReceiptPrivacy: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// The level at which no receipts are sent.
    case none
    /// The level at which the provider counts receipts without recording which devices sent them.
    case counts
    /// The level at which the provider records each receipt with the device that sent it.
    case device

    public static func < (left: ReceiptPrivacy, right: ReceiptPrivacy) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .none: 0
        case .counts: 1
        case .device: 2
        }
    }
}
