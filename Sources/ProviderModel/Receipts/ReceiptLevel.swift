package import PushSupport

/// The level of detail of receipts that are reported and kept.
package enum ReceiptLevel: Int64, Hashable, Sendable, CaseIterable, Comparable {
    /// The level at which no receipts are reported or kept.
    case none = 0
    /// The level at which only counts are kept. No row names a device, and times are rounded.
    case counts = 1
    /// The level at which the receipts of each device are kept.
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

    /// Returns whether the first level has less detail.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Member {
    /// Creates a request member that holds a level of receipts.
    package static func receiptPrivacy(
        _ name: String,
        of levels: [ReceiptLevel] = ReceiptLevel.allCases
    ) -> RequestMember<ReceiptLevel> {
        let all = ReceiptLevel.allCases.map(\.word).joined(separator: ", ")
        return Self.text(name, maximum: 16, as: .choice(levels.map(\.word)))
            .parsed("invalid_value", "use one of \(all)") { ReceiptLevel(word: $0) }
    }
}
