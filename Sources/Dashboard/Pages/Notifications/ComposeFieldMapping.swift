import PushSupport

/// Maps the path of an error of the API to the field of the form that shows it.
enum ComposeFieldMapping {
    private static let fields = [
        "alert": "body", "alert.title": "title", "alert.subtitle": "subtitle", "alert.body": "body",
        "when.localTime": "at", "when.at": "at", "when.past": "past", "when.timeZone": "zone", "pace.rate": "rate",
        "pace.waves.size": "waveSize", "pace.waves.intervalSeconds": "waveSeconds", "quietHours": "ignoreQuiet",
        "guarantee": "atMostOnce", "expiration": "expiresIn", "template": "variables", "device": "previewDevice",
        "user": "previewUser", "schedule.cron": "cron", "schedule.timeZone": "zone",
    ]

    /// Returns the messages by the name of the field.
    static func model(_ error: RequestError?, _ form: ComposeForm) -> [String: String] {
        guard let error, let path = error.path else { return [:] }
        return [self.field(path, form): error.message]
    }

    /// Returns the name of a field.
    ///
    /// - Parameter path: The path of a member, as of a notification, a schedule or a template.
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
