import PushSupport

/// A range of hours on every day or on some weekdays, in local time.
///
/// The range begins on one of these days and may span midnight: `22:00` to `07:00` on Friday ends on Saturday morning.
package struct DailyHours: Hashable, Sendable {
    package let from: LocalTime
    /// The exclusive end. If it equals ``from``, the range is the whole day.
    package let to: LocalTime
    /// The days on which the range begins.
    package let days: Set<Weekday>

    package init(from: LocalTime, to: LocalTime, days: Set<Weekday> = Set(Weekday.allCases)) {
        (self.from, self.to, self.days) = (from, to, days)
    }

    func contains(_ time: LocalTime, on day: Weekday, after dayBefore: Weekday) -> Bool {
        if self.from < self.to { return time >= self.from && time < self.to && self.days.contains(day) }
        return time >= self.from ? self.days.contains(day) : time < self.to && self.days.contains(dayBefore)
    }
}

extension DailyHours {
    private enum Members {
        static let (from, to) = (Self.clockTime("from"), Self.clockTime("to"))
        static let days = Member.texts("days", 1...7, maximum: 3, as: .string(length: 3...3, pattern: Self.dayPattern))
            .parsedEach("invalid_value", "use \(Weekday.allCases.map(\.rawValue).joined(separator: ", "))") {
                Weekday(rawValue: $0.lowercased())
            }
            .checked("invalid_value", "name at least one day") { !$0.isEmpty }

        private static func clockTime(_ name: String) -> RequestMember<LocalTime> {
            Member.text(name, maximum: 16, as: .clockTime)
                .parsed("invalid_time", "write it as 09:30, from 00:00 to 23:59") { LocalTime($0) }
        }

        private static let dayPattern: String = {
            let days = Weekday.allCases.map { day in day.rawValue.map { "[\($0.uppercased())\($0)]" }.joined() }
            return "^(\(days.joined(separator: "|")))$"
        }()
    }

    static let object = RequestObject(optional: [Members.from, Members.to, Members.days]) {
        $0.requiringOne(of: "from", "days").requiring("from", beside: ["to"]).requiring("to", beside: ["from"])
            .described("from and to (HH:MM) come together; days are mon, tue …; see docs/provider.md.")
    }

    /// Reads `{"from":"09:00","to":"21:00","days":["mon","tue"]}`. Without `days`, the range applies every day. Without
    /// `from` and `to`, it is the whole day.
    init(_ fields: JSONFields) throws(RequestError) {
        let (from, to) = (try fields.value(Members.from), try fields.value(Members.to))
        let days = try fields.value(Members.days).map { Set($0) }
        switch (from, to) {
        case (let from?, let to?):
            guard from != to else { throw fields.error("to", "invalid_value", "it must differ from from") }
            self.init(from: from, to: to, days: days ?? Set(Weekday.allCases))
        case (nil, nil):
            guard let days else { throw fields.error("from", "missing_field", "give from and to, or days, or all") }
            self.init(from: .midnight, to: .midnight, days: days)
        case (nil, _): throw fields.error("from", "missing_field", "from and to come together")
        case (_, nil): throw fields.error("to", "missing_field", "from and to come together")
        }
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [:]
        let isWholeDay = self.from == self.to
        if !isWholeDay {
            members["from"] = .string(self.from.description)
            members["to"] = .string(self.to.description)
        }
        if isWholeDay || self.days.count < Weekday.allCases.count {
            members["days"] = .array(Weekday.allCases.filter { self.days.contains($0) }.map { .string($0.rawValue) })
        }
        return .object(members)
    }
}
