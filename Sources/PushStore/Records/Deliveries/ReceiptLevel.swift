/// The receipt level that apps may report at most.
package enum ReceiptLevel: Int64, Hashable, Sendable, CaseIterable, Comparable {
    /// Nothing.
    case none = 0
    /// Counts. No row names a device, and times are rounded.
    case counts = 1
    /// The receipts of each device.
    case device = 2

    /// The name in the API, and in a payload.
    package var word: String {
        switch self {
        case .none: "none"
        case .counts: "counts"
        case .device: "device"
        }
    }

    package init?(word: String) {
        guard let privacy = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = privacy
    }

    /// Returns `true` if the first level tells less.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
