import PushTypes
import WebPages

/// The time that a certificate has left, in words.
enum ExpiryText {
    /// Returns the whole days until a time in milliseconds; negative after it.
    static func daysLeft(until end: Int64, now: Timestamp) -> Int64 {
        let (day, left) = (Int64(86_400_000), end.subtractingReportingOverflow(now.milliseconds))
        guard !left.overflow else { return end > 0 ? .max : .min }
        return left.partialValue >= 0 ? left.partialValue / day : -(-left.partialValue / day) - 1
    }

    static func text(days: Int64, _ texts: LocalizedTexts) -> String {
        switch days {
        case ..<0: texts["trouble.expired"]
        case 0: texts["trouble.today"]
        case 1: texts["trouble.tomorrow"]
        default: texts["trouble.days", ["days": "\(days)"]]
        }
    }
}
