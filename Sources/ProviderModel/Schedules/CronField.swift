/// One of the five fields of a cron expression.
package enum CronField: String, CaseIterable, Sendable {
    case minute
    case hour
    case dayOfMonth = "day of month"
    case month
    case dayOfWeek = "day of week"

    /// The numbers that the field may contain. In the day of week both 0 and 7 are Sunday.
    var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .dayOfWeek: 0...7
        }
    }

    /// The names that stand for numbers. The first name stands for the lower bound of the range.
    private var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .dayOfWeek: Weekday.allCases.map(\.rawValue)
        }
    }

    /// Returns the values that the text of the field allows.
    /// - Throws: ``CronError`` for a text that is not a list of values, ranges and steps within ``range``.
    func parse(_ text: Substring) throws(CronError) -> CronValues {
        var bits: UInt64 = 0
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            bits |= try self.item(item)
        }
        if self == .dayOfWeek, bits & 1 << 7 != 0 { bits = bits & ~(1 << 7) | 1 }
        let all = Self.bits(self == .dayOfWeek ? 0...6 : self.range, step: 1)
        return CronValues(bits: bits, isWildcard: text.hasPrefix("*") || bits == all)
    }

    /// Reads one entry of a list: `*`, a value or a range. `*` and a range may have a step.
    private func item(_ item: Substring) throws(CronError) -> UInt64 {
        let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let base = parts.first, !base.isEmpty else { throw self.fault("an entry is empty") }
        let range = try self.range(base)
        guard parts.count == 2 else { return Self.bits(range, step: 1) }
        guard base == "*" || base.contains("-") else {
            throw self.fault("a step needs * or a range before it: */5 or 10-30/5, not \(Self.quoted(item))")
        }
        guard let step = Self.number(parts[1]), (1...self.range.upperBound).contains(step)
        else { throw self.fault("a step is 1 to \(self.range.upperBound), not \(Self.quoted(parts[1]))") }
        return Self.bits(range, step: step)
    }

    private func range(_ text: Substring) throws(CronError) -> ClosedRange<Int> {
        guard text != "*" else { return self == .dayOfWeek ? 0...6 : self.range }
        let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let first = try self.value(ends[0])
        guard ends.count == 2 else { return first...first }
        var last = try self.value(ends[1])
        // Sunday may end a range as well as begin one: fri-sun.
        if self == .dayOfWeek, last == 0, first > 0 { last = 7 }
        guard first <= last else { throw self.fault("the range \(Self.quoted(text)) runs backwards") }
        return first...last
    }

    private func value(_ text: Substring) throws(CronError) -> Int {
        if let index = self.names.firstIndex(of: text.lowercased()) { return self.range.lowerBound + index }
        guard let number = Self.number(text) else {
            let names = self.names.first.map { ", or a name such as \($0)" } ?? ""
            let (low, high) = (self.range.lowerBound, self.range.upperBound)
            throw self.fault("\(Self.quoted(text)) is not a value: use \(low) to \(high)\(names)")
        }
        guard self.range.contains(number)
        else { throw self.fault("\(number) is outside \(self.range.lowerBound) to \(self.range.upperBound)") }
        return number
    }

    private func fault(_ message: String) -> CronError { CronError(field: self, message: message) }

    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.utf8.count) else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func quoted(_ text: Substring) -> String {
        text.count > 20 ? "\"\(text.prefix(20))…\"" : "\"\(text)\""
    }

    private static func bits(_ range: ClosedRange<Int>, step: Int) -> UInt64 {
        stride(from: range.lowerBound, through: range.upperBound, by: step).reduce(0) { $0 | 1 << UInt64($1) }
    }
}

/// The values that one field allows.
struct CronValues: Hashable, Sendable {
    /// The set of allowed values, with one bit for each value.
    var bits: UInt64
    /// A Boolean value that indicates whether the field begins with `*` or allows every value. Such a field does not
    /// restrict the days or times of runs.
    var isWildcard: Bool

    func contains(_ value: Int) -> Bool { self.bits >> UInt64(value) & 1 == 1 }

    /// Returns the lowest allowed value that is `value` or more, or `nil` if there is none.
    func first(from value: Int) -> Int? {
        guard value < 64 else { return nil }
        let rest = self.bits >> UInt64(value)
        return rest == 0 ? nil : value + rest.trailingZeroBitCount
    }
}

/// The error of a text that is not a cron expression.
package struct CronError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field at fault, or `nil` for the whole expression.
    package var field: CronField?
    /// The explanation for the caller.
    package var message: String

    package var description: String { self.field.map { "\($0.rawValue): \(self.message)" } ?? self.message }
}
