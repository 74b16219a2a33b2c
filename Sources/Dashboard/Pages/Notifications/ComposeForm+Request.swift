import PushSupport

/// The request that a form stands for. What the API checks is left to the API.
extension ComposeForm {
    /// Returns the members of the content.
    ///
    /// - Throws: ``RequestError`` for JSON that cannot be read; its path is the field's name.
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
            // 0 is an expiration, not a time from the start.
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
            members["localizations"] = .object(
                Dictionary(languages.map { ($0.locale, $0.members) }) { $0.merging($1) }
            )
        }
        guard let more = try JSONValue.object(typed: self["more"], in: "more") else { return members }
        guard case .object(let merged) = JSONValue.object(members).merging(.object(more)) else { return members }
        return merged
    }

    /// Returns the body of the request that sends the notification.
    ///
    /// - Throws: As ``contentMembers()``.
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

    /// Returns the audience; `nil` while none is named.
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

    /// The time to send at; `nil` for now at any hour.
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

    /// The name of a notification without one: its title, or the beginning of its text.
    private var impliedName: JSONValue? {
        let text = (self.given("title") ?? self.given("body") ?? "").prefix { $0 != "\n" }
        var name = ""
        for character in text where name.utf8.count + character.utf8.count <= 120 { name.append(character) }
        return name.isEmpty ? nil : .string(name)
    }

    private func text(_ name: String) -> JSONValue? {
        // Spaces within texts that people read are theirs.
        let isProse = ["title", "subtitle", "body"].contains(name)
        return isProse ? (self[name].isEmpty ? nil : .string(self[name])) : self.given(name).map(JSONValue.string)
    }

    /// Returns a whole number; what is none is left as text, which the API refuses or understands.
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
