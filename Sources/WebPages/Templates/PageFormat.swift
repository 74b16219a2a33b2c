import Foundation
package import PushTypes

/// The format of numbers and times on a page, which depends on the page's language and the current time.
package struct PageFormat: Sendable {
    @TaskLocal static var current = PageFormat(texts: .none, now: Timestamp(milliseconds: 0))

    let texts: LocalizedTexts
    let now: Timestamp

    package init(texts: LocalizedTexts, now: Timestamp) { (self.texts, self.now) = (texts, now) }

    // MARK: Numbers

    /// Returns a number with the language's separators and at most two decimals.
    package func number(_ value: Double) -> String {
        guard let whole = Int64(exactly: value.rounded(.towardZero)) else { return Self.plain(value) }
        let group = self.texts["format.group"]
        let digits = String(whole.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += group }
            text.append(digit)
        }
        let cents = Int(((value - Double(whole)).magnitude * 100).rounded())
        if cents > 0, cents < 100 {
            let decimals = cents % 10 == 0 ? "\(cents / 10)" : cents < 10 ? "0\(cents)" : "\(cents)"
            text += self.texts["format.decimal"] + decimals
        }
        return value < 0 ? "−\(text)" : text
    }

    /// Returns a number without separators, as form fields and URLs require it.
    static func plain(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }

    /// Returns a size with a unit, such as 1.2 MB.
    package func bytes(_ value: Double) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var (value, unit) = (value, 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        return "\(self.number(value < 10 ? (value * 10).rounded() / 10 : value.rounded())) \(units[unit])"
    }

    /// Returns a duration in its two largest units, such as "2 h 5 min", or "–" for a number that is not finite.
    package func duration(seconds: Double) -> String {
        guard seconds.isFinite, let total = Int64(exactly: max(0, seconds).rounded()) else { return "–" }
        let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        var (rest, parts): (Int64, [String]) = (total, [])
        for (length, name) in units where rest >= length && parts.count < 2 {
            parts.append("\(rest / length) \(self.texts["format.\(name)"])")
            rest %= length
        }
        return parts.isEmpty ? "0 \(self.texts["format.s"])" : parts.joined(separator: " ")
    }

    // MARK: Times

    /// Returns the time that has elapsed since a time in RFC 3339, such as "3 min ago". Any other string is returned
    /// unchanged.
    package func ago(_ text: String) -> String {
        guard let time = Self.time(text) else { return text }
        let seconds = Double(self.now.milliseconds - time.milliseconds) / 1000
        guard seconds.magnitude >= 1 else { return self.texts["format.now"] }
        let length = self.duration(seconds: Self.coarse(seconds.magnitude))
        return self.texts[seconds > 0 ? "format.ago" : "format.in", ["time": length]]
    }

    /// Returns a duration in seconds, rounded down to one unit, so that the entries of a list are easy to compare.
    private static func coarse(_ seconds: Double) -> Double {
        let unit: Double = seconds >= 86_400 ? 86_400 : seconds >= 3600 ? 3600 : seconds >= 60 ? 60 : 1
        return (seconds / unit).rounded(.down) * unit
    }

    /// Returns the date and the time of day in UTC for a time in RFC 3339. Any other string is returned unchanged.
    package func local(_ text: String) -> String {
        guard Self.time(text) != nil else { return text }
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) UTC"
    }

    private static func time(_ text: String) -> Timestamp? {
        guard text.count <= 40,
            let date = try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        else { return (try? Date(text, strategy: .iso8601)).map(Self.timestamp) }
        return Self.timestamp(date)
    }

    private static func timestamp(_ date: Date) -> Timestamp {
        Timestamp(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}
