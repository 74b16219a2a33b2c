package import PushSupport

/// Reads and writes durations such as `90s`, `30m`, `6h` and `30d` of requests and responses.
package enum DurationText {
    package static let schema = Schema.string(length: 2...12, pattern: "^[0-9]+[smhd]$")

    private static let units: [(name: Character, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    /// Returns the seconds of a whole number with a unit, or `nil` for any other text.
    package static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 12, let unit = Self.units.first(where: { $0.name == text.last }) else { return nil }
        let digits = text.dropLast()
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(digits)
        else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit.seconds)
        return overflow ? nil : seconds
    }

    /// Returns the text of a duration in the largest unit that divides it. Days are used only from three days on.
    package static func text(_ seconds: Int64) -> String {
        let unit = Self.units.first { seconds % $0.seconds == 0 && ($0.name != "d" || seconds >= 3 * 86_400) }
        guard let unit else { return "\(seconds)s" }
        return "\(seconds / unit.seconds)\(unit.name)"
    }
}
