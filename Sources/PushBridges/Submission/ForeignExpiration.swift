import PushSupport
import PushTypes

/// The expiration that another system's client names, in UNIX seconds.
enum ForeignExpiration {
    /// Later times are the push service's own policy, which keeps nothing longer than 30 days. The year 2100.
    private static let latest: Int64 = 4_102_444_800

    /// Returns the member `expiration` of a request; `nil` leaves it out.
    ///
    /// A time that has passed is the same as 0: one try without storage, as the push service takes it. One below 0 counts as
    /// none.
    static func member(_ seconds: Int64?, now: Timestamp) -> JSONValue? {
        guard let seconds, seconds >= 0, seconds <= Self.latest else { return nil }
        return .integer(Timestamp(seconds: seconds) <= now ? 0 : seconds)
    }
}
