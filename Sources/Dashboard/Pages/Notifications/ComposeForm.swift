import Foundation
import PushHTTP
import PushSupport

/// The form of a notification, a schedule or a template, with its values exactly as they were entered.
struct ComposeForm: Sendable {
    /// The strings of the alert in one language.
    struct Language: Sendable, Equatable {
        var locale = ""
        var title = ""
        var subtitle = ""
        var body = ""

        var isEmpty: Bool { self.locale.isEmpty && self.title.isEmpty && self.subtitle.isEmpty && self.body.isEmpty }
    }

    /// The maximum number of languages of a notification. The form adds no more.
    static let maximumLanguages = 100

    var values: [String: String] = [:]
    var languages: [Language] = []

    static let content = [
        "title", "subtitle", "body", "badge", "sound", "image", "pushType", "interruptionLevel", "threadId", "category",
        "collapseId", "expiresIn", "priority", "data", "variables", "more",
    ]
    static let sending = [
        "name", "environment", "audience", "tag", "user", "named", "expression", "locale", "when", "at", "zone", "past",
        "windowFrom", "windowTo", "days", "quietFrom", "quietTo", "pace", "rate", "waveSize", "waveSeconds",
        "consentCategory", "ignoreQuiet", "atMostOnce",
    ]
    private static let recurrence = ["frequency", "time", "weekday", "monthday", "cron"]
    private static let preview = ["previewDevice", "previewUser", "previewLocale"]
    private static let names = Self.content + Self.sending + Self.recurrence + Self.preview

    init() {}

    init(_ form: FormData) {
        for name in Self.names {
            let values = form.values(name).map(Self.normalized)
            self.values[name] = name == "days" ? values.joined(separator: " ") : values.first ?? ""
        }
        for index in 0..<Self.maximumLanguages {
            guard let locale = form["language\(index)"] else { break }
            self.languages.append(
                Language(
                    locale: Self.normalized(locale).trimmingCharacters(in: .whitespaces),
                    title: Self.normalized(form["title\(index)"] ?? ""),
                    subtitle: Self.normalized(form["subtitle\(index)"] ?? ""),
                    body: Self.normalized(form["body\(index)"] ?? "")
                )
            )
        }
    }

    /// The value of a field, which is empty if nothing was entered.
    subscript(name: String) -> String {
        get { self.values[name] ?? "" }
        set { self.values[name] = newValue }
    }

    /// Returns the trimmed value of a field, or `nil` if it is empty.
    func given(_ name: String) -> String? {
        let text = self[name].trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? nil : text
    }

    /// Adds or removes a language if the pressed button requests it.
    /// - Returns: `true` for a button that adds or removes a language, and `false` for any other button.
    mutating func change(by action: String) -> Bool {
        if action == "add-language" {
            if self.languages.count < Self.maximumLanguages { self.languages.append(Language()) }
            return true
        }
        let prefix = "remove-language-"
        guard action.hasPrefix(prefix) else { return false }
        if let index = Int(action.dropFirst(prefix.count)), self.languages.indices.contains(index) {
            self.languages.remove(at: index)
        }
        return true
    }

    /// The members of a preview request that select the device for which the push is rendered by its token, its user or
    /// its language. The dictionary is empty if the form selects no device.
    var previewSubject: [String: JSONValue] {
        if let device = self.given("previewDevice") { return ["device": .string(device)] }
        if let user = self.given("previewUser") { return ["user": .string(user)] }
        guard let locale = self.given("previewLocale") else { return [:] }
        return ["subject": .object(["locale": .string(locale)])]
    }

    /// The names and values of all fields, which the confirmation page contains as hidden fields.
    var hidden: [(name: String, value: String)] {
        var fields = Self.names.flatMap { name -> [(String, String)] in
            name == "days"
                ? self[name].split(separator: " ").map { (name, String($0)) } : [(name, self[name])]
        }
        for (index, language) in self.languages.enumerated() {
            fields += [
                ("language\(index)", language.locale), ("title\(index)", language.title),
                ("subtitle\(index)", language.subtitle), ("body\(index)", language.body),
            ]
        }
        return fields.filter { !$0.1.isEmpty || $0.0.hasPrefix("language") }.map { (name: $0.0, value: $0.1) }
    }

    // Browsers send line breaks as CR LF.
    private static func normalized(_ text: String) -> String { text.replacingOccurrences(of: "\r\n", with: "\n") }
}

/// The API request that a form describes. Values that the API checks are not checked here.
extension ComposeForm {
    /// Returns the API members for the content of the notification.
    /// - Throws: ``RequestError`` for JSON that cannot be parsed. The path of the error is the name of the field.
    func contentMembers() throws(RequestError) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        let alert = JSONValue.members([
            "title": self.text("title"), "subtitle": self.text("subtitle"), "body": self.text("body"),
        ])
        if alert != .object([:]) { members["alert"] = alert }
        for name in ["sound", "pushType", "interruptionLevel", "threadId", "category", "collapseId"] {
            members[name] = self.text(name)
        }
        members["badge"] = self.number("badge")
        members["priority"] = self.number("priority")
        if let expiresIn = self.given("expiresIn") {
            // In the API, 0 is a valid value of `expiration` but not of `expiresIn`.
            if expiresIn == "0" {
                members["expiration"] = .integer(0)
            } else {
                members["expiresIn"] = self.number("expiresIn")
            }
        }
        var data = try JSONValue.object(typed: self["data"], in: "data") ?? [:]
        if let image = self.text("image") {
            data["attachment"] = image
            members["mutableContent"] = .bool(true)
        }
        if !data.isEmpty { members["data"] = .object(data) }
        if self["variables"] == "yes" { members["template"] = .bool(true) }
        let languages = self.languages.filter { !$0.isEmpty }
        if !languages.isEmpty {
            members["localizations"] = .object(Dictionary(languages.map { ($0.locale, $0.members) }) { $0.merging($1) })
        }
        guard let more = try JSONValue.object(typed: self["more"], in: "more") else { return members }
        guard case .object(let merged) = JSONValue.object(members).merging(.object(more)) else { return members }
        return merged
    }

    /// Returns the body of the request that sends the notification.
    /// - Throws: The errors of ``contentMembers()``, and ``RequestError`` for an audience whose JSON cannot be parsed.
    func request() throws(RequestError) -> JSONValue {
        var members = try self.contentMembers()
        members["name"] = self.text("name") ?? members["name"] ?? self.impliedName
        members["to"] = try self.audienceMember() ?? members["to"]
        members["environment"] = self.text("environment") ?? members["environment"]
        if let when = self.whenMember { members["when"] = when.merging(members["when"] ?? .object([:])) }
        members["pace"] = self.paceMember ?? members["pace"]
        members["consentCategory"] = self.text("consentCategory") ?? members["consentCategory"]
        if self["ignoreQuiet"] == "yes" { members["quietHours"] = .string("ignore") }
        if self["atMostOnce"] == "yes" { members["guarantee"] = .string("atMostOnce") }
        return .object(members)
    }

    /// Returns the audience as an API member, or `nil` if the form names none.
    /// - Throws: ``RequestError`` for JSON that cannot be parsed.
    func audienceMember() throws(RequestError) -> JSONValue? {
        var condition: [String: JSONValue]
        switch self["audience"] {
        case "all": condition = ["all": .bool(true)]
        case "tag", "user", "named":
            guard let value = self.text(self["audience"]) else { return nil }
            condition = [self["audience"]: value]
        default:
            guard let expression = try JSONValue.object(typed: self["expression"], in: "expression") else { return nil }
            guard let locale = self.text("locale") else { return .object(expression) }
            return .object(["and": .array([.object(expression), .object(["locale": locale])])])
        }
        guard let locale = self.text("locale") else { return .object(condition) }
        if self["audience"] == "all" { condition = [:] }
        condition["locale"] = locale
        return .object(condition)
    }

    /// The API member `when`, or `nil` for a notification that is sent immediately and at any hour.
    private var whenMember: JSONValue? {
        var members: [String: JSONValue] = [:]
        let window = JSONValue.members([
            "from": self.text("windowFrom"), "to": self.text("windowTo"),
            "days": JSONValue.texts(self["days"].split(separator: " ").map(String.init)),
        ])
        if window != .object([:]) { members["window"] = window }
        let quiet = JSONValue.members(["from": self.text("quietFrom"), "to": self.text("quietTo")])
        if quiet != .object([:]) { members["quietHours"] = quiet }
        switch self["when"] {
        case "at":
            members["localTime"] = .string(self["at"])
            members["timeZone"] = self.text("zone") ?? .string("UTC")
        case "local":
            members["localTime"] = .string(self["at"])
            members["past"] = self.text("past")
        default: break
        }
        return members.isEmpty ? nil : .object(members)
    }

    private var paceMember: JSONValue? {
        switch self["pace"] {
        case "rate": .members(["rate": self.number("rate")])
        case "waves":
            .object([
                "waves": .members(["size": self.number("waveSize"), "intervalSeconds": self.number("waveSeconds")])
            ])
        default: nil
        }
    }

    /// The name of a notification for which none was entered. It is the title, or else the beginning of the body, or
    /// `nil` if there is neither.
    private var impliedName: JSONValue? {
        let text = (self.given("title") ?? self.given("body") ?? "").prefix { $0 != "\n" }
        var name = ""
        for character in text where name.utf8.count + character.utf8.count <= 120 { name.append(character) }
        return name.isEmpty ? nil : .string(name)
    }

    private func text(_ name: String) -> JSONValue? {
        // Spaces in strings that people read are kept.
        let isProse = ["title", "subtitle", "body"].contains(name)
        return isProse ? (self[name].isEmpty ? nil : .string(self[name])) : self.given(name).map(JSONValue.string)
    }

    /// Returns the value of a field as an integer, or `nil` for an empty field. Any other value is returned unchanged,
    /// so that the API rejects it if it is invalid.
    private func number(_ name: String) -> JSONValue? {
        guard let text = self.given(name) else { return nil }
        guard let first = text.first, first != "+", first != "-" else { return .string(text) }
        return Int64(text).map(JSONValue.integer) ?? .string(text)
    }
}

extension ComposeForm.Language {
    fileprivate var members: JSONValue {
        .members([
            "title": self.title.isEmpty ? nil : .string(self.title),
            "subtitle": self.subtitle.isEmpty ? nil : .string(self.subtitle),
            "body": self.body.isEmpty ? nil : .string(self.body),
        ])
    }
}

/// The creation of a form from an existing request. Members that no field shows are written into the field for further
/// members, so that nothing is lost.
extension ComposeForm {
    init(request: JSONValue) {
        self.init()
        var rest = RemainingMembers(request)
        self.readContent(&rest)
        self.readSending(&rest)
        self["more"] = rest.members.isEmpty ? "" : JSONValue.object(rest.members).indented
    }

    init(sent notification: JSONValue) {
        let content = notification["content"]
        var members = Self.members(payload: content["payload"]) ?? ["payload": content["payload"]]
        if case .object(let payloads) = content["localizations"], !payloads.isEmpty {
            members = ["payload": content["payload"], "localizations": .object(payloads)]
        }
        if let increment = content["badgeIncrement"].integerValue {
            members["badge"] = .string(increment < 0 ? "\(increment)" : "+\(increment)")
        }
        if content["template"] == .bool(true) { members["template"] = .bool(true) }
        for name in ["to", "environment", "pace", "consentCategory", "quietHours", "collapseId", "expiresIn", "name"]
        where notification[name] != .null {
            members[name] = notification[name]
        }
        if notification["pushType"] != .string("alert") { members["pushType"] = notification["pushType"] }
        if notification["guarantee"] == .string("atMostOnce") { members["guarantee"] = .string("atMostOnce") }
        self.init(request: .object(members))
    }

    private mutating func readContent(_ rest: inout RemainingMembers) {
        if let alert = rest.text("alert") { self["body"] = alert }
        rest.object("alert") { alert in
            for name in ["title", "subtitle", "body"] { self[name] = alert.text(name) ?? "" }
        }
        for name in ["sound", "pushType", "interruptionLevel", "threadId", "category", "collapseId"] {
            self[name] = rest.text(name) ?? ""
        }
        for name in ["badge", "priority", "expiresIn"] { self[name] = rest.scalar(name) ?? "" }
        if rest.take("expiration", if: .integer(0)) { self["expiresIn"] = "0" }
        rest.object("data") { self["image"] = $0.text("attachment") ?? "" }
        if !self["image"].isEmpty { _ = rest.take("mutableContent", if: .bool(true)) }
        if case .object(let data)? = rest.members["data"] {
            self["data"] = JSONValue.object(data).indented
            _ = rest.take("data", if: .object(data))
        }
        if rest.take("template", if: .bool(true)) { self["variables"] = "yes" }
        var languages: [Language] = []
        rest.object("localizations") { localizations in
            for locale in localizations.members.keys.sorted() {
                var language = Language(locale: locale)
                localizations.object(locale) { texts in
                    language.title = texts.text("title") ?? ""
                    language.subtitle = texts.text("subtitle") ?? ""
                    language.body = texts.text("body") ?? ""
                }
                languages.append(language)
            }
        }
        self.languages = languages
    }

    private mutating func readSending(_ rest: inout RemainingMembers) {
        for name in ["name", "environment", "consentCategory"] { self[name] = rest.text(name) ?? "" }
        if rest.take("quietHours", if: .string("ignore")) { self["ignoreQuiet"] = "yes" }
        if rest.take("guarantee", if: .string("atMostOnce")) { self["atMostOnce"] = "yes" }
        _ = rest.take("guarantee", if: .string("atLeastOnce"))
        if case .object(let to)? = rest.members["to"] {
            self.readAudience(to)
            _ = rest.take("to", if: .object(to))
        }
        rest.object("pace") { pace in
            if let rate = pace.scalar("rate") { (self["pace"], self["rate"]) = ("rate", rate) }
            pace.object("waves") { waves in
                self["pace"] = "waves"
                self["waveSize"] = waves.scalar("size") ?? ""
                self["waveSeconds"] = waves.scalar("intervalSeconds") ?? ""
            }
        }
        rest.object("when") { self.readWhen(&$0) }
    }

    private mutating func readAudience(_ to: [String: JSONValue]) {
        var rest = RemainingMembers(.object(to))
        let locale = to.count == 1 ? nil : rest.text("locale")
        for kind in ["tag", "user", "named"] where rest.members.count == 1 {
            guard let value = rest.text(kind) else { continue }
            (self["audience"], self[kind], self["locale"]) = (kind, value, locale ?? "")
            return
        }
        if let locale = to["locale"]?.stringValue, to.count == 1 {
            (self["audience"], self["locale"]) = ("all", locale)
        } else if to == ["all": .bool(true)] {
            self["audience"] = "all"
        } else {
            (self["audience"], self["expression"]) = ("json", JSONValue.object(to).indented)
        }
    }

    private mutating func readWhen(_ rest: inout RemainingMembers) {
        rest.object("window") { window in
            self["windowFrom"] = window.text("from") ?? ""
            self["windowTo"] = window.text("to") ?? ""
            if case .array(let days)? = window.members["days"] {
                self["days"] = days.compactMap(\.stringValue).joined(separator: " ")
                _ = window.take("days", if: .array(days))
            }
        }
        rest.object("quietHours") { quiet in
            self["quietFrom"] = quiet.text("from") ?? ""
            self["quietTo"] = quiet.text("to") ?? ""
        }
        _ = rest.take("timeZone", if: .string("device"))
        guard let local = rest.text("localTime") else { return }
        (self["at"], self["past"]) = (local, rest.text("past") ?? "")
        let zone = rest.text("timeZone")
        (self["when"], self["zone"]) = (zone == nil ? "local" : "at", zone ?? "")
    }

    /// Returns the members of a request that produce a payload, or `nil` for a payload that only the member `payload`
    /// can express.
    private static func members(payload: JSONValue) -> [String: JSONValue]? {
        guard case .object(var data) = payload, case .object(let aps)? = data["aps"] else { return nil }
        (data["aps"], data["martlet"]) = (nil, nil)
        var members: [String: JSONValue] = data.isEmpty ? [:] : ["data": .object(data)]
        let names = [
            "alert": "alert", "badge": "badge", "sound": "sound", "thread-id": "threadId", "category": "category",
            "interruption-level": "interruptionLevel",
        ]
        for (key, value) in aps {
            if let name = names[key] {
                members[name] = value
            } else if ["mutable-content", "content-available"].contains(key), value == .integer(1) {
                members[key == "mutable-content" ? "mutableContent" : "contentAvailable"] = .bool(true)
            } else {
                return nil
            }
        }
        if case .object(let alert)? = aps["alert"] {
            guard alert.keys.allSatisfy({ ["title", "subtitle", "body"].contains($0) }) else { return nil }
        }
        return members
    }
}

extension CronPlan {
    init(_ form: ComposeForm) {
        self.init(cron: form["cron"])
        self.frequency = Frequency(rawValue: form["frequency"]) ?? .daily
        (self.time, self.weekday, self.monthday) = (form["time"], form["weekday"], form["monthday"])
    }

    func fill(_ form: inout ComposeForm) {
        form["frequency"] = self.frequency.rawValue
        (form["time"], form["weekday"], form["monthday"]) = (self.time, self.weekday, self.monthday)
        form["cron"] = self.cron
    }
}
