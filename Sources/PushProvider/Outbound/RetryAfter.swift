import Foundation
import PushTypes

/// Parses a `retry-after` header (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// Returns the delay, or `nil` for text that is neither a number of seconds nor a date in the preferred format.
    static func read(_ text: String?, now: Timestamp) -> Duration? {
        guard let text, text.utf8.count <= 40 else { return nil }
        if let seconds = UInt32(text) { return .seconds(Int64(seconds)) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: text) else { return nil }
        let seconds = Int64(exactly: date.timeIntervalSince1970.rounded()) ?? 0
        return max(.zero, Timestamp(seconds: seconds).since(now))
    }
}
