/// The time until which the push service keeps a notification for an offline device: the header `apns-expiration`.
public enum Expiration: Hashable, Sendable {
    /// The push service's own policy, at most 30 days. The header is left out.
    case servicePolicy
    /// One attempt to deliver, without storage. The header is 0.
    case immediate
    /// A UNIX time in seconds. A small number is a time in 1970, which has already passed (reference 1.5).
    case at(seconds: Int64)

    /// The longest time for which Apple stores a notification: 30 days (reference 7.1).
    package static let longestStorage: Duration = .seconds(30 * 24 * 3600)

    /// Reads the header's text, which is decimal digits only. Returns `nil` for a `BadExpirationDate`.
    package init?(header text: String) {
        var seconds: Int64 = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflow, !sumOverflow else { return nil }
            seconds = sum
        }
        guard !text.isEmpty else { return nil }
        self = seconds == 0 ? .immediate : .at(seconds: seconds)
    }

    /// The header's text; `nil` leaves the header out.
    package var header: String? {
        switch self {
        case .servicePolicy: nil
        case .immediate: "0"
        case .at(let seconds): String(seconds)
        }
    }

    /// Returns the time at which a notification that was accepted at `now` expires, or `nil` if it must not be stored.
    package func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        let longest = now.advanced(by: Self.longestStorage)
        switch self {
        case .servicePolicy: return longest
        case .immediate: return nil
        case .at(let seconds): return min(Timestamp(seconds: seconds), longest)
        }
    }
}
