/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Hashable, Comparable, Sendable {
    /// The number of days since 1970-01-01.
    package let dayNumber: Int64
    package let year: Int64
    package let month: Int
    package let day: Int

    /// Creates a day from its number. Numbers outside the years -9,999 to 9,999 are clamped.
    package init(dayNumber: Int64) {
        let number = min(max(dayNumber, -4_371_953), 2_932_896)
        // Eras of 400 years that begin on 1 March, so that a leap day is the last day of its year.
        let shifted = number + 719_468
        let era = shifted.floored(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        self.dayNumber = number
        self.day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        self.month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        self.year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    /// Creates a day, or returns `nil` for one that is not in the calendar, or a year outside 1 to 9999.
    package init?(year: Int64, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.floored(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.init(dayNumber: era * 146_097 + dayOfEra - 719_468)
        guard self.year == year, self.month == month, self.day == day else { return nil }
    }

    /// Reads `YYYY-MM-DD`, or returns `nil` for any other text, and for a day that is not in the calendar.
    package init?(_ text: String) {
        var reader = DigitReader(text)
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"), let day = reader.number(digits: 2), reader.isAtEnd
        else { return nil }
        self.init(year: Int64(year), month: month, day: day)
    }

    package var weekday: Weekday {
        // 1970-01-01 was a Thursday.
        let index = self.dayNumber + 4
        return Weekday.allCases[Int(index - index.floored(by: 7) * 7)]
    }

    package var next: CivilDate { CivilDate(dayNumber: self.dayNumber + 1) }

    /// The first day of the following month.
    var startOfNextMonth: CivilDate {
        // The first of this month and 31 days is always in the next month.
        let inNext = CivilDate(dayNumber: self.dayNumber - Int64(self.day) + 1 + 31)
        return CivilDate(dayNumber: inNext.dayNumber - Int64(inNext.day) + 1)
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool { left.dayNumber < right.dayNumber }
}

extension CivilDate: CustomStringConvertible {
    /// The day as `YYYY-MM-DD`.
    package var description: String {
        "\(max(0, self.year).padded(4))-\(Int64(self.month).padded(2))-\(Int64(self.day).padded(2))"
    }
}

/// A day of the week. The raw value is its name in requests and cron expressions.
package enum Weekday: String, CaseIterable, Hashable, Sendable {
    case sunday = "sun"
    case monday = "mon"
    case tuesday = "tue"
    case wednesday = "wed"
    case thursday = "thu"
    case friday = "fri"
    case saturday = "sat"

    /// The number of the day in cron, where 0 is Sunday.
    var index: Int {
        switch self {
        case .sunday: 0
        case .monday: 1
        case .tuesday: 2
        case .wednesday: 3
        case .thursday: 4
        case .friday: 5
        case .saturday: 6
        }
    }
}

extension Int64 {
    /// Returns the quotient rounded down. `divisor` must be positive.
    func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = self.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
