/// A date and a time of day on a local clock, in no particular zone: `2026-11-25T09:30`.
package struct LocalDateTime: Hashable, Comparable, Sendable {
    package let date: CivilDate
    package let time: LocalTime
}

extension LocalDateTime {
    /// Reads `YYYY-MM-DDTHH:MM` or `YYYY-MM-DDTHH:MM:SS`, without a zone.
    package init?(_ text: String) {
        var reader = DigitReader(text)
        guard let value = LocalDateTime(reading: &reader), reader.isAtEnd else { return nil }
        self = value
    }

    init?(reading reader: inout DigitReader) {
        guard
            let year = reader.number(digits: 4), reader.take("-"),
            let month = reader.number(digits: 2), reader.take("-"),
            let day = reader.number(digits: 2), reader.take("T"),
            let date = CivilDate(year: Int64(year), month: month, day: day),
            let time = LocalTime(reading: &reader)
        else { return nil }
        self.init(date: date, time: time)
    }

    /// The time that a clock shows `localSeconds` seconds after its own 1970-01-01T00:00.
    init(localSeconds: Int64) {
        let day = localSeconds.floored(by: 86_400)
        let second = localSeconds - day * 86_400
        self.date = CivilDate(dayNumber: day)
        self.time =
            LocalTime(hour: Int(second / 3600), minute: Int(second / 60 % 60), second: Int(second % 60)) ?? .midnight
    }

    var localSeconds: Int64 { self.date.dayNumber * 86_400 + self.time.secondOfDay }

    package static func < (left: LocalDateTime, right: LocalDateTime) -> Bool {
        left.localSeconds < right.localSeconds
    }
}

extension LocalDateTime: CustomStringConvertible {
    package var description: String {
        "\(self.date)T\(self.time)"
    }
}
