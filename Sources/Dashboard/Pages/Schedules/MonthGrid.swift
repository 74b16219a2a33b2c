import Foundation

/// The days of a month in a time zone, in weeks from Monday to Sunday.
struct MonthGrid {
    /// The month as `2026-11`.
    let month: String
    let previous: String
    let next: String
    /// The days as `2026-11-30`, with those of the neighbouring months that fill the weeks.
    let weeks: [[String]]
    /// The beginning of the first day, and the end of the last one.
    let range: Range<Date>
    private let zone: TimeZone

    /// - Parameter month: As `2026-11`; `nil` and anything else stand for the month of `now`.
    init(_ month: String?, now: Date, zone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = (month ?? "").split(separator: "-").compactMap { Int($0) }
        var first = DateComponents(year: parts.first, month: parts.dropFirst().first, day: 1)
        if parts.count != 2 || !(1970...9999).contains(parts[0]) || !(1...12).contains(parts[1]) {
            first = calendar.dateComponents([.year, .month], from: now)
            first.day = 1
        }
        let start = calendar.date(from: first) ?? now
        let end = calendar.date(byAdding: .month, value: 1, to: start) ?? now
        self.zone = zone
        self.month = String(Self.day(start, zone).prefix(7))
        self.previous = String(Self.day(start.addingTimeInterval(-43_200), zone).prefix(7))
        self.next = String(Self.day(end, zone).prefix(7))
        // Weekdays count from Sunday, 1. Days have 23 to 25 hours where clocks are changed.
        let before = (calendar.component(.weekday, from: start) + 5) % 7
        let monday = calendar.date(byAdding: .day, value: -before, to: start) ?? start
        var day = monday
        var weeks: [[String]] = []
        while day < end, weeks.count < 6 {
            let days = (0...7).map { calendar.date(byAdding: .day, value: $0, to: day) ?? end }
            weeks.append(days.dropLast().map { Self.day($0, zone) })
            day = days[7]
        }
        self.weeks = weeks
        self.range = monday..<max(monday, day)
    }

    /// Returns the day, and the time of that day as `09:30`.
    func local(_ date: Date) -> (day: String, time: String) {
        let text = date.formatted(Date.ISO8601FormatStyle(timeZone: self.zone))
        return (String(text.prefix(10)), String(text.dropFirst(11).prefix(5)))
    }

    private static func day(_ date: Date, _ zone: TimeZone) -> String {
        String(date.formatted(Date.ISO8601FormatStyle(timeZone: zone)).prefix(10))
    }
}
