/// The level of privacy of receipts, from the strictest.
///
/// The app's user, the app and each notification have a level each, and the strictest of them holds.
public enum ReceiptPrivacy: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// No receipts.
    case none
    /// Receipts grow counters, and the provider does not keep of whom they are.
    case counts
    /// Receipts are kept with the device.
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
