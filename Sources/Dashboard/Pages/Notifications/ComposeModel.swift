import ProviderModel
import PushSupport
import WebPages

/// The template variables for the form of a notification.
struct ComposeModel {
    let form: ComposeForm
    let texts: LocalizedTexts
    let problems: [String: String]

    private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    /// The time zones that the form suggests. Any other zone can be entered.
    private static let zones = [
        "UTC", "Europe/Berlin", "Europe/London", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Vienna",
        "Europe/Zurich", "Europe/Amsterdam", "Europe/Stockholm", "Europe/Warsaw", "Europe/Istanbul", "Europe/Moscow",
        "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles", "America/Toronto",
        "America/Sao_Paulo", "America/Mexico_City", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos",
        "Asia/Dubai", "Asia/Kolkata", "Asia/Bangkok", "Asia/Singapore", "Asia/Shanghai", "Asia/Tokyo", "Asia/Seoul",
        "Australia/Sydney", "Pacific/Auckland",
    ]

    private var fields: LabelledFields {
        LabelledFields(texts: self.texts, area: "compose", values: self.form.values, problems: self.problems)
    }

    var content: PageModel {
        let (make, list) = (self.fields, NotificationRequest.object)
        var fields: PageModel = [
            "title": make.line("title", of: list["alert"]), "subtitle": make.line("subtitle", of: list["alert"]),
            "body": make.area("body"), "badge": make.line("badge"),
            "sound": make.line("sound", of: list["sound"], list: "sounds"),
            "image": make.line("image", type: "url"),
            "pushType": make.select("pushType", ["", "alert", "background"]),
            "interruptionLevel": make.select("interruptionLevel", ["", "passive", "active", "time-sensitive"]),
            "threadId": make.line("threadId", of: list["threadId"]),
            "category": make.line("category", of: list["category"]),
            "collapseId": make.line("collapseId", of: list["collapseId"]), "expiresIn": make.line("expiresIn"),
            "priority": make.select("priority", [""] + list["priority"].choices),
            "data": make.area("data", isCode: true), "variables": make.check("variables"),
            "more": make.area("more", isCode: true),
        ]
        fields["languages"] = self.languages
        fields["opensExtras"] = self.hasAny([
            "subtitle", "badge", "sound", "image", "threadId", "category", "interruptionLevel",
        ])
        fields["opensLanguages"] = !self.form.languages.isEmpty
        fields["opensTechnical"] = self.hasAny([
            "pushType", "collapseId", "expiresIn", "priority", "data", "variables", "more",
        ])
        return fields
    }

    /// Returns the variables for the audience, the time and the other sending options.
    /// - Parameter named: The names of the app's audiences.
    func sending(named: [String], isSchedule: Bool) -> PageModel {
        let (make, list, audience) = (self.fields, NotificationRequest.object, AudienceExpression.object)
        let schedule = ScheduleRequest.object
        let zones: PageModel = ["zones": Self.zones]
        return zones.merging([
            "name": make.line("name", of: list["name"]),
            "environment": make.radio("environment", ["", "production", "sandbox"]),
            "audience": make.radio("audience", ["tag", "user"] + (named.isEmpty ? [] : ["named"]) + ["all", "json"]),
            "tag": make.line("tag", of: audience["tag"]), "user": make.line("user", of: audience["user"]),
            "named": make.select("named", [""] + named), "expression": make.area("expression", isCode: true),
            "locale": make.line("locale", of: audience["locale"]),
            "when": make.radio("when", ["now", "at", "local", "recurring"]),
            "at": make.line("at", type: "datetime-local"),
            "zone": make.line("zone", of: schedule["schedule.timeZone"], list: "zones"),
            "past": make.select("past", ["", "skip", "nextDay"]),
            "windowFrom": make.line("windowFrom", type: "time"), "windowTo": make.line("windowTo", type: "time"),
            "days": make.checks("days", Self.weekdays),
            "quietFrom": make.line("quietFrom", type: "time"), "quietTo": make.line("quietTo", type: "time"),
            "pace": make.radio("pace", ["", "rate", "waves"]),
            "rate": make.line("rate", of: list["pace.rate"], type: "number"),
            "waveSize": make.line("waveSize", of: list["pace.waves.size"], type: "number"),
            "waveSeconds": make.line("waveSeconds", of: list["pace.waves.intervalSeconds"], type: "number"),
            "consentCategory": make.line("consentCategory", of: list["consentCategory"]),
            "ignoreQuiet": make.check("ignoreQuiet"), "atMostOnce": make.check("atMostOnce"),
            "frequency": make.select("frequency", CronPlan.Frequency.allCases.map(\.rawValue)),
            "time": make.line("time", type: "time"), "weekday": make.select("weekday", Self.weekdays),
            "monthday": make.line("monthday", type: "number"),
            "cron": make.line("cron", of: schedule["schedule.cron"]),
            "isSchedule": isSchedule,
            "opensHours": self.hasAny([
                "windowFrom", "windowTo", "days", "quietFrom", "quietTo", "pace", "rate", "waveSize", "waveSeconds",
                "consentCategory", "ignoreQuiet", "atMostOnce",
            ]),
        ]) { $1 }
    }

    var preview: PageModel {
        let (make, list) = (self.fields, PreviewRequest.notification)
        return [
            "device": make.line("previewDevice", of: list["device"]),
            "user": make.line("previewUser", of: list["user"]),
            "locale": make.line("previewLocale", of: list["subject.locale"]),
            "opens": self.hasAny(["previewDevice", "previewUser", "previewLocale"]),
        ]
    }

    /// Returns whether one of the fields has a value or an error, so that their section must be expanded.
    private func hasAny(_ names: [String]) -> Bool {
        names.contains { !self.form[$0].isEmpty || self.problems[$0] != nil }
    }

    private var languages: [PageModel] {
        let alert = NotificationRequest.object["alert"]
        return self.form.languages.enumerated().map { index, language in
            let values = [
                "language\(index)": language.locale, "title\(index)": language.title,
                "subtitle\(index)": language.subtitle, "body\(index)": language.body,
            ]
            let make = LabelledFields(texts: self.texts, area: "compose", values: values, problems: self.problems)
            return [
                "index": "\(index)",
                "locale": make.line("language", of: LocaleTag.schema, name: "language\(index)"),
                "title": make.line("title", of: alert, name: "title\(index)"),
                "subtitle": make.line("subtitle", of: alert, name: "subtitle\(index)"),
                "body": make.area("body", name: "body\(index)"),
            ]
        }
    }
}

/// Determines the field of the form that shows the message of an API error.
enum ComposeFieldMapping {
    private static let fields = [
        "alert": "body", "alert.title": "title", "alert.subtitle": "subtitle", "alert.body": "body",
        "when.localTime": "at", "when.at": "at", "when.past": "past", "when.timeZone": "zone", "pace.rate": "rate",
        "pace.waves.size": "waveSize", "pace.waves.intervalSeconds": "waveSeconds", "quietHours": "ignoreQuiet",
        "guarantee": "atMostOnce", "expiration": "expiresIn", "template": "variables", "device": "previewDevice",
        "user": "previewUser", "schedule.cron": "cron", "schedule.timeZone": "zone",
    ]

    /// Returns the message of the error, by the name of the field that shows it, or an empty dictionary for an error
    /// that names no member.
    static func model(_ error: RequestError?, _ form: ComposeForm) -> [String: String] {
        guard let error, let path = error.path else { return [:] }
        return [self.field(path, form): error.message]
    }

    /// Returns the name of the field that shows an error about a member.
    /// - Parameter path: The path of the member in a request for a notification, a schedule or a template.
    static func field(_ path: String, _ form: ComposeForm) -> String {
        var path = path
        for prefix in ["notification.", "content."] where path.hasPrefix(prefix) {
            path.removeFirst(prefix.count)
        }
        if let field = self.fields[path] { return field }
        if path == "to" || path.hasPrefix("to.") { return self.audience(path, form) }
        if path.hasPrefix("localizations") { return self.language(path, form) }
        if path.hasPrefix("subject.") { return "previewLocale" }
        if path.hasPrefix("when.window") { return path.contains("days") ? "days" : "windowFrom" }
        if path.hasPrefix("when.quietHours") { return "quietFrom" }
        if path.hasPrefix("when") { return "at" }
        if path == "data.attachment", !form["image"].isEmpty { return "image" }
        let first = String(path.prefix { $0 != "." && $0 != "[" })
        return ComposeForm.content.contains(first) || ComposeForm.sending.contains(first) ? first : "more"
    }

    private static func audience(_ path: String, _ form: ComposeForm) -> String {
        if path.hasPrefix("to.locale") { return "locale" }
        let kind = form["audience"]
        return kind == "json" ? "expression" : ["tag", "user", "named"].contains(kind) ? kind : "audience"
    }

    private static func language(_ path: String, _ form: ComposeForm) -> String {
        let rest = path.dropFirst("localizations.".count)
        let index = form.languages.indices.first { index in
            let locale = form.languages[index].locale
            return rest == locale || rest.hasPrefix("\(locale).")
        }
        guard let index else { return "more" }
        let member = rest.split(separator: ".").last.map(String.init) ?? ""
        return ["title", "subtitle", "body"].contains(member) ? "\(member)\(index)" : "language\(index)"
    }
}
