package import Foundation
import PushSupport
package import PushTypes

/// Conversions between timestamps and local clocks.
///
/// One rule covers all changes of the clocks: a local time occurs at the first timestamp at which the clock shows that
/// time or a later one. A time that is skipped (spring) occurs right after the gap, and a time that is repeated
/// (autumn) occurs only the first time.
extension TimeZone {
    /// The maximum length of the name of a time zone, in bytes.
    static let maximumName = 256

    /// Creates a zone from a name that a caller gave, or returns `nil` for a name that is not in the zone database.
    package init?(named name: String) {
        // A NUL would end the name early.
        guard name.utf8.count <= Self.maximumName,
            name.utf8.allSatisfy({ $0.isAlphanumeric || "/_+-".utf8.contains($0) })
        else { return nil }
        self.init(identifier: name)
    }

    /// Returns the timestamp at which `local` happens in this zone.
    package func timestamp(of local: LocalDateTime) -> Timestamp {
        Timestamp(seconds: self.timestamp(ofLocalSeconds: local.localSeconds))
    }

    /// Returns the local time at `timestamp`, to the second. Times outside the years 1 to 9999 are clamped.
    package func local(at timestamp: Timestamp) -> LocalDateTime {
        let seconds = timestamp.calendarSeconds
        return LocalDateTime(localSeconds: seconds + self.offset(at: seconds))
    }

    func timestamp(ofLocalSeconds local: Int64) -> Int64 {
        // No zone was ever further than 16 h from UTC, so the clock shows less than `local` when this span begins.
        var span = self.span(from: local - 26 * 3600)
        for _ in 0..<16 where local >= span.localEnd { span = self.span(from: span.end) }
        return max(span.start, local - span.offset)
    }

    /// Returns the offset from UTC in seconds, at `seconds` since 1970.
    func offset(at seconds: Int64) -> Int64 {
        Int64(self.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }

    /// Returns the span from `seconds` to the next change of the clocks.
    func span(from seconds: Int64) -> ClockSpan {
        let change = self.nextDaylightSavingTimeTransition(after: Date(timeIntervalSince1970: TimeInterval(seconds)))
        let end = change.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.up)) } ?? ClockSpan.never
        return ClockSpan(
            start: seconds,
            end: end > seconds ? min(end, ClockSpan.never) : ClockSpan.never,
            offset: self.offset(at: seconds)
        )
    }
}

/// A span of time without a change of the clocks, in seconds since 1970.
struct ClockSpan {
    /// The end of a span that is not followed by a change. It is later than all dates and far from an overflow.
    static let never: Int64 = 1 << 52

    var start: Int64
    /// The exclusive end of the span.
    var end: Int64
    /// The offset of the local clock from UTC during the span, in seconds.
    var offset: Int64

    var localStart: Int64 { self.start + self.offset }
    /// The exclusive end in local time, before the change of the clocks.
    var localEnd: Int64 { self.end + self.offset }
}

extension Timestamp {
    /// The whole seconds, clamped to the years 1 to 9999, in which arithmetic with days cannot overflow.
    var calendarSeconds: Int64 { min(max(self.seconds, -62_135_596_800), 253_402_300_799) }
}
