import Foundation
import PushSupport
import WebPages

/// The API request that a form describes, with its audience, time and environment as text. The audience, time and
/// environment can also be in the field for further members. Therefore, pages show and evaluate the request that is
/// sent, instead of the fields of the form.
struct ComposeRequest: Sendable {
    /// The body of the request that sends the notification. For a schedule, it is the notification of each run.
    let notification: JSONValue
    /// The rule of the schedule, or `nil` for a notification that is sent once.
    let rule: JSONValue?
    private let name: String

    /// Creates the request from a form.
    /// - Parameters:
    ///   - isRecurring: Pass `true` if the form describes a schedule.
    ///   - stored: The schedule that the form changes, or `nil` for a new one. Its values that no field shows are kept,
    ///     which are further members of its rule and the name of its notification.
    /// - Throws: ``RequestError`` for JSON that cannot be parsed. The path of the error is the name of the field.
    init(_ form: ComposeForm, isRecurring: Bool, stored: JSONValue? = nil) throws(RequestError) {
        let notification = try form.request()
        guard isRecurring else {
            (self.notification, self.rule, self.name) = (notification, nil, "")
            return
        }
        self.name = form.given("name") ?? notification["name"].stringValue ?? ""
        let times = JSONValue.object([
            "cron": .string(CronPlan(form).expression), "timeZone": .string(form.given("zone") ?? "UTC"),
        ])
        guard let stored, case .object(var members) = notification else {
            (self.notification, self.rule) = (notification, times)
            return
        }
        let own = stored["notification"]["name"]
        members["name"] = try form.contentMembers()["name"] ?? (own == .null ? nil : own)
        (self.notification, self.rule) = (.object(members), stored["schedule"].merging(times))
    }

    /// The body of the request that stores the schedule, or `nil` for a notification that is sent once.
    var schedule: JSONValue? {
        self.rule.map { .object(["name": .string(self.name), "schedule": $0, "notification": self.notification]) }
    }

    /// A Boolean value that indicates whether the notification is for one user. Such a notification is sent without a
    /// confirmation.
    var isForOneUser: Bool {
        guard case .object(let to) = self.notification["to"], to["user"]?.stringValue?.isEmpty == false else {
            return false
        }
        return to.keys.allSatisfy { ["user", "locale"].contains($0) }
    }

    /// A Boolean value that indicates whether the notification contains the time at which it is sent, instead of being
    /// sent immediately.
    var isLater: Bool {
        let when = self.notification["when"]
        return when["at"] != .null || when["localTime"] != .null
    }

    // MARK: Facts

    func facts(_ texts: LocalizedTexts) -> [(name: String, value: String)] {
        let (audience, environment) = (self.notification["to"], self.notification["environment"])
        let option = environment == .null ? "none" : environment.stringValue ?? environment.line
        return [
            ("audience", audience == .null ? "" : audience.line),
            ("environment", texts.text("compose.environmentOptions.\(option)") ?? option),
            ("when", self.time(texts)),
        ]
    }

    private func time(_ texts: LocalizedTexts) -> String {
        if let rule = self.rule {
            let words = CronPlan(cron: rule["cron"].stringValue ?? "").words(texts)
            return "\(words), \(rule["timeZone"].stringValue ?? "UTC")"
        }
        let when = self.notification["when"]
        if when["at"] != .null { return when["at"].stringValue ?? when["at"].line }
        guard let local = when["localTime"].stringValue else { return texts["compose.whenOptions.now"] }
        let time = local.replacingOccurrences(of: "T", with: " ")
        guard let zone = when["timeZone"].stringValue, zone != "device" else {
            return "\(time) · \(texts["compose.whenOptions.local"])"
        }
        return "\(time) \(zone)"
    }
}
