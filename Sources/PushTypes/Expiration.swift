/// Until when the push service keeps a notification for a device that is offline, header `apns-expiration`.
public enum Expiration: Hashable, Sendable {
    /// Header absent: the service's own policy, at most ``longestStorage``.
    case servicePolicy
    /// 0: one attempt, never stored.
    case immediate
    /// UNIX time in seconds. A small number is a moment in 1970, so already expired (reference 1.5).
    case at(seconds: Int64)

    /// Apple stores for up to 30 days (reference 7.1).
    public static let longestStorage: Duration = .seconds(30 * 24 * 3600)

    /// Reads the header's text: decimal digits only. `nil` means `BadExpirationDate`.
    public init?(header text: String) {
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

    /// The header's text, or `nil` where the header is left out.
    public var header: String? {
        switch self {
        case .servicePolicy: nil
        case .immediate: "0"
        case .at(let seconds): String(seconds)
        }
    }

    /// The moment at which a notification accepted at `now` is dropped, or `nil` if it must not be stored at all.
    public func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        let longest = now.advanced(by: Self.longestStorage)
        switch self {
        case .servicePolicy: return longest
        case .immediate: return nil
        case .at(let seconds): return min(Timestamp(seconds: seconds), longest)
        }
    }
}
