package import Foundation
package import PushTypes

/// What clocks on the wall in a zone show, and when.
///
/// One rule serves every change of the clocks: a local time happens at the first moment at which the clock shows it or
/// something later. So a time that is skipped (spring) happens right after the gap, and one that comes twice (autumn)
/// happens the first time only.
extension TimeZone {
    /// A zone that a caller named. `nil` for a name that the zone database does not hold.
    package init?(named name: String) {
        guard name.utf8.count <= DeviceRequest.maximumText, name.utf8.allSatisfy(Self.isPartOfName) else { return nil }
        self.init(identifier: name)
    }

    /// The database's names have letters, digits and these signs; a NUL would end the name early.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "/_+-".utf8.contains(byte)
        }
    }

    /// The zone that a device reported, or `standard` where it reported none that is known.
    package static func ofDevice(_ name: String?, default standard: TimeZone) -> TimeZone {
        name.flatMap(TimeZone.init(named:)) ?? standard
    }

    /// The moment at which `local` happens here.
    package func moment(of local: LocalDateTime) -> Timestamp {
        Timestamp(seconds: self.moment(ofLocalSeconds: local.localSeconds))
    }

    /// What the clock shows at `moment`, to the second; moments outside the years 1 to 9999 are moved to the nearer end.
    package func local(at moment: Timestamp) -> LocalDateTime {
        let seconds = moment.calendarSeconds
        return LocalDateTime(localSeconds: seconds + self.offset(at: seconds))
    }

    func moment(ofLocalSeconds local: Int64) -> Int64 {
        // No zone was ever further than 16 h from UTC, so the clock shows less than `local` when this span begins.
        var span = self.span(from: local - 26 * 3600)
        for _ in 0..<16 where local >= span.localEnd {
            span = self.span(from: span.end)
        }
        return max(span.start, local - span.offset)
    }

    /// Seconds to add to UTC at `seconds` since 1970.
    func offset(at seconds: Int64) -> Int64 {
        Int64(self.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }

    /// The time from `seconds` until the clocks are changed next.
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

/// A stretch of time without a change of the clocks, in seconds since 1970.
struct ClockSpan {
    /// Later than every moment of the calendar, and far from overflow.
    static let never: Int64 = 1 << 52

    var start: Int64
    /// Exclusive.
    var end: Int64
    /// Seconds to add to UTC.
    var offset: Int64

    var localStart: Int64 { self.start + self.offset }
    /// What the clock would show at the end if it were not changed. Exclusive.
    var localEnd: Int64 { self.end + self.offset }
}

extension Timestamp {
    /// Whole seconds, moved into the years 1 to 9999, where arithmetic with days is safe.
    var calendarSeconds: Int64 { min(max(self.seconds, -62_135_596_800), 253_402_300_799) }
}
