package import Foundation
package import PushTypes

/// A cron expression of five fields: minute, hour, day of month, month, day of week.
///
/// As in Vixie cron, if day of month and day of week are both restricted, a day matches if *either* does. A field that
/// begins with `*` is not restricted. When the clocks change, the behaviour depends on the hour and the minute. If
/// neither is a wildcard, each run is a local time: a skipped one runs once right after the gap, and one that occurs
/// twice runs the first time. If either is a wildcard, runs are spaced in elapsed time.
package struct CronExpression: Hashable, Sendable {
    /// The maximum length of an expression, in bytes.
    package static let maximumLength = 256
    /// The maximum number of years ahead in which the next run is searched for. 29 February falls on a given weekday
    /// every 28 years, or 40 across a century without a leap year.
    private static let horizon: Int64 = 40

    /// The expression as written, with single spaces.
    package let text: String
    private let minutes, hours, daysOfMonth, months, daysOfWeek: CronValues

    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    /// Parses an expression or a nickname such as `@daily`.
    /// - Throws: ``CronError`` that names the field at fault.
    package init(_ text: String) throws(CronError) {
        guard text.utf8.count <= Self.maximumLength else {
            throw CronError(field: nil, message: "at most \(Self.maximumLength) bytes, not \(text.utf8.count)")
        }
        let words = text.split { $0 == " " || $0 == "\t" }
        self.text = words.joined(separator: " ")
        var fields = words
        if let first = words.first, first.hasPrefix("@") {
            guard words.count == 1, let meaning = Self.nicknames[first.lowercased()] else {
                let known = Self.nicknames.keys.sorted().joined(separator: ", ")
                throw CronError(field: nil, message: "known names: \(known)")
            }
            fields = meaning.split(separator: " ")
        }
        guard fields.count == 5 else {
            let order = CronField.allCases.map(\.rawValue).joined(separator: ", ")
            throw CronError(field: nil, message: "there are five fields (\(order)), not \(fields.count)")
        }
        self.minutes = try CronField.minute.parse(fields[0])
        self.hours = try CronField.hour.parse(fields[1])
        self.daysOfMonth = try CronField.dayOfMonth.parse(fields[2])
        self.months = try CronField.month.parse(fields[3])
        self.daysOfWeek = try CronField.dayOfWeek.parse(fields[4])
    }

    /// Returns the first run later than `timestamp`, or `nil` if none is within 40 years and before the year 10000.
    package func next(after timestamp: Timestamp, in zone: TimeZone) -> Timestamp? {
        let seconds = timestamp.calendarSeconds
        let minute = (seconds + zone.offset(at: seconds)).floored(by: 60)
        let isFixed = !self.minutes.isWildcard && !self.hours.isWildcard
        return isFixed
            ? self.nextLocal(after: timestamp, from: minute, in: zone)
            : self.nextElapsed(after: timestamp, from: minute, in: zone)
    }

    private func nextLocal(after timestamp: Timestamp, from minute: Int64, in zone: TimeZone) -> Timestamp? {
        var minute = minute
        while let match = self.match(from: minute) {
            let run = Timestamp(seconds: zone.timestamp(ofLocalSeconds: match * 60))
            if run > timestamp { return run }
            // In the second pass of a repeated hour every local time has occurred already.
            minute = match + 1
        }
        return nil
    }

    private func nextElapsed(after timestamp: Timestamp, from minute: Int64, in zone: TimeZone) -> Timestamp? {
        var span = zone.span(from: timestamp.calendarSeconds)
        var minute = minute + 1
        while let match = self.match(from: minute) {
            if match * 60 < span.localEnd {
                let run = Timestamp(seconds: match * 60 - span.offset)
                return run > timestamp ? run : nil
            }
            span = zone.span(from: span.end)
            minute = (span.localStart + 59).floored(by: 60)
        }
        return nil
    }

    /// Returns the first minute of the local clock that matches, `minute` or later. Minutes count from 1970-01-01T00:00
    /// on the same clock.
    private func match(from minute: Int64) -> Int64? {
        var date = CivilDate(dayNumber: minute.floored(by: 1440))
        // After the end of the calendar its last day would repeat forever.
        guard date.dayNumber >= minute.floored(by: 1440) else { return nil }
        var minuteOfDay = Int(minute - minute.floored(by: 1440) * 1440)
        let last = min(date.year + Self.horizon, 9999)
        while date.year <= last {
            guard self.months.contains(date.month) else {
                let next = date.startOfNextMonth
                // The calendar's last month has no next.
                guard next > date else { return nil }
                (date, minuteOfDay) = (next, 0)
                continue
            }
            if self.allows(date), let time = self.time(from: minuteOfDay) { return date.dayNumber * 1440 + Int64(time) }
            let next = date.next
            guard next > date else { return nil }
            (date, minuteOfDay) = (next, 0)
        }
        return nil
    }

    private func allows(_ date: CivilDate) -> Bool {
        let fitsMonth = self.daysOfMonth.contains(date.day)
        let fitsWeek = self.daysOfWeek.contains(date.weekday.index)
        let isEither = !self.daysOfMonth.isWildcard && !self.daysOfWeek.isWildcard
        return isEither ? fitsMonth || fitsWeek : fitsMonth && fitsWeek
    }

    private func time(from minuteOfDay: Int) -> Int? {
        let (hour, minute) = minuteOfDay.quotientAndRemainder(dividingBy: 60)
        if self.hours.contains(hour), let minute = self.minutes.first(from: minute) { return hour * 60 + minute }
        guard let hour = self.hours.first(from: hour + 1), let minute = self.minutes.first(from: 0) else { return nil }
        return hour * 60 + minute
    }
}
