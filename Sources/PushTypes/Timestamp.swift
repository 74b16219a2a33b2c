/// A moment on the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
///
/// APNs mixes units: only the `timestamp` of a 410 answer is in milliseconds, everything else is in seconds
/// (reference 0, units trap). Conversions saturate, so hostile values never trap.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Saturates at the ends of the 64-bit millisecond range.
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Whole seconds since 1970, rounded towards the past.
    public var seconds: Int64 {
        let (quotient, remainder) = self.milliseconds.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// This moment shifted by `duration`; saturates.
    public func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let shift = Timestamp(seconds: seconds).milliseconds
        let (whole, overflow) = self.milliseconds.addingReportingOverflow(shift)
        guard !overflow else { return Timestamp(milliseconds: shift < 0 ? .min : .max) }
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return Timestamp(milliseconds: sumOverflow ? whole : sum)
    }

    /// The time from `earlier` until this moment; saturates.
    public func since(_ earlier: Timestamp) -> Duration {
        let (difference, overflow) = self.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return .milliseconds(difference) }
        return .milliseconds(self < earlier ? Int64.min : .max)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: InstantProtocol {
    /// The time from this moment until `other`; saturates.
    public func duration(to other: Timestamp) -> Duration { other.since(self) }
}
