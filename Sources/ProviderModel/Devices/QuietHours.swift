import PushSupport

/// The daily hours in which notifications to a device are skipped, and not sent later, by the device's local time.
package struct QuietHours: Hashable, Sendable {
    /// The beginning and the exclusive end of the quiet hours.
    package let from, to: LocalTime

    /// Creates quiet hours, or returns `nil` if their length is zero.
    package init?(from: LocalTime, to: LocalTime) {
        guard from != to else { return nil }
        (self.from, self.to) = (from, to)
    }

    package func contains(_ time: LocalTime) -> Bool {
        self.from < self.to ? time >= self.from && time < self.to : time >= self.from || time < self.to
    }
}

extension QuietHours {
    /// Reads the form that ``stored`` writes, or returns `nil` for any other text.
    package init?(stored text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = LocalTime(String(parts[0])), let to = LocalTime(String(parts[1]))
        else { return nil }
        self.init(from: from, to: to)
    }

    /// The form in the database, such as `22:00-07:00`.
    package var stored: String { "\(self.from)-\(self.to)" }
}

extension QuietHours {
    private enum Members {
        static let (from, to) = (Self.time("from"), Self.time("to"))

        private static func time(_ name: String) -> RequestMember<LocalTime> {
            Member.text(name, maximum: 8, as: .clockTime)
                .parsed("invalid_time", "use a time of day such as 22:00") { LocalTime($0) }
        }
    }

    static let member = Member.object(
        "quietHours",
        RequestObject(required: [Members.from, Members.to]) {
            $0.described("Times on the clock of each device. They differ, and may span midnight.")
        }
    ) { (fields) throws(RequestError) -> QuietHours in
        let (from, to) = (try fields.required(Members.from), try fields.required(Members.to))
        guard let quiet = QuietHours(from: from, to: to) else {
            throw fields.error("to", "invalid_value", "it is the same as from: leave quietHours out for none")
        }
        return quiet
    }

    var json: JSONValue { .object(["from": .string("\(self.from)"), "to": .string("\(self.to)")]) }
}
