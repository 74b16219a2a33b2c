/// A time of day on a local clock, to the second: `09:30` or `09:30:15`.
package struct LocalTime: Hashable, Comparable, Sendable {
    package static let midnight = LocalTime(secondOfDay: 0)

    /// The seconds since midnight, 0 to 86,399.
    package let secondOfDay: Int64

    private init(secondOfDay: Int64) { self.secondOfDay = secondOfDay }

    /// Creates a time of day, or returns `nil` for one that does not exist. 24:00 does not exist either.
    package init?(hour: Int, minute: Int, second: Int = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        self.secondOfDay = Int64(hour * 3600 + minute * 60 + second)
    }

    /// Reads `HH:MM` or `HH:MM:SS`, two digits each, or returns `nil` for any other text.
    package init?(_ text: String) {
        var reader = DigitReader(text)
        guard let time = LocalTime(reading: &reader), reader.isAtEnd else { return nil }
        self = time
    }

    init?(reading reader: inout DigitReader) {
        guard let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2)
        else { return nil }
        var second = 0
        if reader.take(":") {
            guard let value = reader.number(digits: 2) else { return nil }
            second = value
        }
        self.init(hour: hour, minute: minute, second: second)
    }

    package static func < (left: LocalTime, right: LocalTime) -> Bool { left.secondOfDay < right.secondOfDay }
}

extension LocalTime: CustomStringConvertible {
    /// The canonical text: without seconds where they are zero.
    package var description: String {
        let second = self.secondOfDay % 60
        let time = "\((self.secondOfDay / 3600).padded(2)):\((self.secondOfDay / 60 % 60).padded(2))"
        return second == 0 ? time : "\(time):\(second.padded(2))"
    }
}

/// Reads numbers of a fixed length and single characters from ASCII text.
struct DigitReader {
    private var rest: Substring.UTF8View
    private(set) var position = 0

    init(_ text: String) { self.rest = text[...].utf8 }

    var isAtEnd: Bool { self.rest.isEmpty }

    /// Reads a number of exactly `digits` decimal digits, at most nine, or reads nothing and returns `nil`.
    mutating func number(digits: Int) -> Int? {
        let part = self.rest.prefix(digits)
        guard part.count == digits, digits <= 9 else { return nil }
        var value = 0
        for digit in part {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        self.advance(by: digits)
        return value
    }

    var digitsAhead: Int { self.rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count }

    /// Consumes `character`, in either case, if it follows.
    /// - Returns: Whether it followed.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = self.rest.first, character.isASCII else { return false }
        let isLetter = character.properties.isAlphabetic
        let wanted = UInt8(ascii: character)
        guard first == wanted || (isLetter && first ^ 0x20 == wanted) else { return false }
        self.advance(by: 1)
        return true
    }

    private mutating func advance(by count: Int) {
        self.rest = self.rest.dropFirst(count)
        self.position += count
    }
}

extension Int64 {
    /// Returns decimal digits with leading zeros, at least `width` of them. The value must not be negative.
    func padded(_ width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
    }
}

/// A date and a time of day in no particular zone: `2026-11-25T09:30`.
package struct LocalDateTime: Hashable, Comparable, Sendable {
    package let date: CivilDate
    package let time: LocalTime
}

extension LocalDateTime {
    /// Reads `YYYY-MM-DDTHH:MM` or `YYYY-MM-DDTHH:MM:SS`, without a zone, or returns `nil` for any other text.
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

    /// Creates the time that is this number of seconds after 1970-01-01T00:00 on the same clock.
    init(localSeconds: Int64) {
        let day = localSeconds.floored(by: 86_400)
        let second = localSeconds - day * 86_400
        self.date = CivilDate(dayNumber: day)
        self.time =
            LocalTime(hour: Int(second / 3600), minute: Int(second / 60 % 60), second: Int(second % 60)) ?? .midnight
    }

    var localSeconds: Int64 { self.date.dayNumber * 86_400 + self.time.secondOfDay }

    package static func < (left: LocalDateTime, right: LocalDateTime) -> Bool { left.localSeconds < right.localSeconds }
}

extension LocalDateTime: CustomStringConvertible {
    package var description: String { "\(self.date)T\(self.time)" }
}
