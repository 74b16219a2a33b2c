/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// APNs mixes units: the `timestamp` of a 410 response is in milliseconds, but all other times are in seconds (APNs
/// APNs reference 0, units trap). All arithmetic saturates, so that invalid values never trap.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The milliseconds since 1970, negative for earlier times.
    public let milliseconds: Int64

    /// Creates a point in time from milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates a point in time from seconds since 1970. It saturates at the limits of the 64-bit millisecond range.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// The whole seconds since 1970, rounded towards the past.
    public var seconds: Int64 {
        let (quotient, remainder) = self.milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Returns the point in time that is later than this one by `duration`, or earlier if it is negative.
    public func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let shift = Timestamp(seconds: seconds).milliseconds
        let (whole, overflow) = self.milliseconds.addingReportingOverflow(shift)
        guard !overflow else { return Timestamp(milliseconds: shift < 0 ? .min : .max) }
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return Timestamp(milliseconds: sumOverflow ? whole : sum)
    }

    /// Returns the time from `earlier` until this point in time, which is negative if `earlier` is later.
    public func since(_ earlier: Timestamp) -> Duration {
        let (difference, overflow) = self.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return .milliseconds(difference) }
        return .milliseconds(self < earlier ? Int64.min : .max)
    }

    /// Returns whether the first point in time is before the second.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}

extension Timestamp: InstantProtocol {
    /// Returns the time from this point in time until `other`, which is negative if `other` is earlier.
    public func duration(to other: Timestamp) -> Duration { other.since(self) }
}
