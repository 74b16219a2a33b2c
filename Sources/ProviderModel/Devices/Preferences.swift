package import PushSupport

/// The notifications that a user does not want: categories, and hours without any.
package struct Preferences: Hashable, Sendable {
    /// The maximum number of categories that a device or user opts out of. A request with more is rejected.
    package static let maximumOptOuts = 100
    /// The maximum length of the name of a consent category, in bytes. A longer one is rejected.
    package static let maximumCategory = 64

    /// The consent categories that are not wanted.
    package var optOuts: Set<BytewiseString>
    package var quietHours: QuietHours?

    package init(optOuts: Set<BytewiseString> = [], quietHours: QuietHours? = nil) {
        (self.optOuts, self.quietHours) = (optOuts, quietHours)
    }

    /// Returns `true` if a text can be the name of a consent category. The stored form separates categories by line
    /// ends, so a name has none.
    package static func isCategory(_ text: String) -> Bool {
        (1...Self.maximumCategory).contains(text.utf8.count) && text.unicodeScalars.allSatisfy { $0.value >= 0x20 }
    }
}

/// The daily hours in which notifications to a device are skipped, and not sent later, by the device's local time.
package struct QuietHours: Hashable, Sendable {
    /// The beginning and the exclusive end of the quiet hours.
    package let from, to: LocalTime

    /// Creates quiet hours; `nil` if their length is zero.
    package init?(from: LocalTime, to: LocalTime) {
        guard from != to else { return nil }
        (self.from, self.to) = (from, to)
    }

    /// Returns `true` if a time of day is quiet.
    package func contains(_ time: LocalTime) -> Bool {
        self.from < self.to ? time >= self.from && time < self.to : time >= self.from || time < self.to
    }
}

extension QuietHours {
    /// Reads the stored form; `nil` for anything else.
    package init?(stored text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let from = LocalTime(String(parts[0])), let to = LocalTime(String(parts[1]))
        else { return nil }
        self.init(from: from, to: to)
    }

    /// The form in the database, such as `22:00-07:00`.
    package var stored: String { "\(self.from)-\(self.to)" }
}

extension Preferences {
    private static let optOutsMember = Member.texts("optOuts", 0...Self.maximumOptOuts, maximum: Self.maximumCategory)
        .described("The consent categories that are not wanted.")
        .parsedEach("invalid_value", Self.categoryForm) { Self.isCategory($0) ? BytewiseString($0) : nil }

    package static let object = RequestObject(optional: [Self.optOutsMember, QuietHours.member]) {
        $0.described("Replaces all earlier preferences.").named("Preferences")
    }

    /// Reads preferences from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        let quietHours = try fields.value(QuietHours.member)
        self.init(optOuts: Set(try fields.value(Self.optOutsMember) ?? []), quietHours: quietHours)
    }

    static let categoryForm = "a consent category has 1 to \(Self.maximumCategory) bytes without control characters"

    package var json: JSONValue {
        var members: [String: JSONValue] = ["optOuts": .array(self.optOuts.sorted().map { .string($0.text) })]
        members["quietHours"] = self.quietHours?.json
        return .object(members)
    }
}

extension QuietHours {
    private enum Members {
        static let (from, to) = (Self.time("from"), Self.time("to"))

        private static func time(_ name: String) -> RequestMember<LocalTime> {
            Member.text(name, maximum: 8, as: .clockTime)
                .parsed("invalid_time", "use a time of day such as 22:00") { LocalTime($0) }
        }
    }

    fileprivate static let member = Member.object(
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
