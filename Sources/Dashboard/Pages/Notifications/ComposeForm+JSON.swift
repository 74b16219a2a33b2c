import PushSupport

/// The form of a request that exists. What no field shows is in the field for further members, so that nothing is lost.
extension ComposeForm {
    /// Fills the form from the members of a notification's request, or of a template's content.
    init(request: JSONValue) {
        self.init()
        var rest = RemainingMembers(request)
        self.readContent(&rest)
        self.readSending(&rest)
        self["more"] = rest.members.isEmpty ? "" : JSONValue.object(rest.members).indented
    }

    /// Fills the form from a notification that was sent, without its time.
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

    /// Returns the members that make a payload; `nil` if it has some that only a raw payload can have.
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
