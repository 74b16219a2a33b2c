package import PushTypes

extension Timestamp {
    /// The position after the seconds of RFC 3339 text, in bytes.
    private static let secondsEnd = "2026-11-25T09:30:00".utf8.count

    /// Reads RFC 3339 text such as `2026-11-25T10:30:00.5+01:00`, or returns `nil` for any other text.
    ///
    /// Fractions are truncated to milliseconds. Seconds may be left out, but not before their fraction (RFC 3339, 5.6).
    /// A leap second (`:60`) is rejected.
    package init?(rfc3339 text: String) {
        guard text.utf8.count <= 40 else { return nil }
        var reader = DigitReader(text)
        guard let local = LocalDateTime(reading: &reader) else { return nil }
        var milliseconds = 0
        if reader.position == Self.secondsEnd, reader.take(".") {
            let digits = reader.digitsAhead
            guard (1...9).contains(digits), var fraction = reader.number(digits: digits) else { return nil }
            for _ in 0..<max(0, 3 - digits) { fraction *= 10 }
            for _ in 0..<max(0, digits - 3) { fraction /= 10 }
            milliseconds = fraction
        }
        guard let offset = Self.offset(&reader), reader.isAtEnd else { return nil }
        self.init(milliseconds: (local.localSeconds - offset) * 1000 + Int64(milliseconds))
    }

    /// RFC 3339 text in UTC, with milliseconds if they are not zero. Times outside the years 1 to 9999 are clamped.
    package var rfc3339: String {
        let seconds = self.calendarSeconds
        let local = LocalDateTime(localSeconds: seconds)
        let milliseconds = seconds == self.seconds ? self.milliseconds - seconds * 1000 : 0
        let time = local.time.secondOfDay % 60 == 0 ? "\(local):00" : "\(local)"
        return milliseconds == 0 ? "\(time)Z" : "\(time).\(milliseconds.padded(3))Z"
    }

    /// Reads the offset of the text's clock from UTC, in seconds, or returns `nil` if there is none.
    private static func offset(_ reader: inout DigitReader) -> Int64? {
        if reader.take("Z") { return 0 }
        let isAhead = reader.take("+")
        guard isAhead || reader.take("-") else { return nil }
        guard
            let hours = reader.number(digits: 2), reader.take(":"), let minutes = reader.number(digits: 2),
            hours <= 23, minutes <= 59
        else { return nil }
        return Int64(hours * 3600 + minutes * 60) * (isAhead ? 1 : -1)
    }
}
