import Foundation

/// The days of a month in weeks from Monday to Sunday, in UTC.
struct MonthGrid: Equatable {
    /// The month as `2026-11`.
    let month: String
    let previous: String
    let next: String
    /// The days as `2026-11-30`, with those of the neighbouring months that fill the weeks.
    let weeks: [[String]]

    /// - Parameter month: As `2026-11`; `nil` and anything else stand for the month of `now`.
    init(_ month: String?, now: Date) {
        let calendar = Self.calendar
        let parts = (month ?? "").split(separator: "-").compactMap { Int($0) }
        var first = DateComponents(year: parts.first, month: parts.dropFirst().first, day: 1)
        if parts.count != 2 || !(1970...9999).contains(parts[0]) || !(1...12).contains(parts[1]) {
            first = calendar.dateComponents([.year, .month], from: now)
            first.day = 1
        }
        let start = calendar.date(from: first) ?? now
        let end = calendar.date(byAdding: .month, value: 1, to: start) ?? now
        self.month = String(Self.day(start).prefix(7))
        self.previous = String(Self.day(start.addingTimeInterval(-86_400)).prefix(7))
        self.next = String(Self.day(end).prefix(7))
        // Weekdays count from Sunday, 1.
        let before = (calendar.component(.weekday, from: start) + 5) % 7
        var day = start.addingTimeInterval(Double(-before) * 86_400)
        var weeks: [[String]] = []
        while day < end {
            weeks.append((0..<7).map { Self.day(day.addingTimeInterval(Double($0) * 86_400)) })
            day = day.addingTimeInterval(7 * 86_400)
        }
        self.weeks = weeks
    }

    /// The first day, and the day after the last one.
    var range: (from: String, to: String) {
        let last = self.weeks.last?.last ?? self.month
        let end = (try? Date("\(last)T00:00:00Z", strategy: .iso8601)).map { Self.day($0.addingTimeInterval(86_400)) }
        return (self.weeks.first?.first ?? self.month, end ?? last)
    }

    private static var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }

    private static func day(_ date: Date) -> String { String(date.formatted(.iso8601).prefix(10)) }
}
