package import PushSupport
package import PushTypes

/// The lock screen of a phone that shows a push, as far as its payload determines it. All values of the payload are
/// treated as plain text. None of them becomes markup, a script or a URL.
package struct LockScreen: Hashable, Sendable {
    /// The kind of presentation that the push causes on the lock screen.
    package enum Kind: Hashable, Sendable {
        /// A notification with an alert, which the device shows.
        case alert
        /// The `event` of a Live Activity, such as `update`. Its `values` are listed, because only the app can render
        /// them.
        case activity(event: String, values: [Value])
        /// A push that shows nothing, for the associated reason.
        case silent(SilentReason)
    }

    /// The reason why a push shows nothing.
    package enum SilentReason: String, CaseIterable, Hashable, Sendable {
        case background, voip, complication, fileprovider, mdm, location, pushtotalk, widgets, controls
        /// An alert push without text and sound, which can at most change the badge.
        case badgeOnly
        /// A payload that the system cannot interpret.
        case unreadable
    }

    /// A string of an alert, or the key of a localized string.
    package struct Text: Hashable, Sendable {
        package let text: String
        /// A Boolean value that indicates whether the string is a localization key, whose text only the app has.
        /// Otherwise, the string is the text itself.
        package var isKey = false
    }

    /// A name and a value in the content of a Live Activity.
    package struct Value: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package var kind: Kind
    package var title: Text?
    package var subtitle: Text?
    package var body: Text?
    package var level = "active"
    package var badge: Int64?
    package var hasSound = false
    package var isCritical = false
    package var thread: String?
    package var category: String?
    package var summary: String?
    package var hasAttachment = false
    package var staleAt: Int64?
    package var dismissedAt: Int64?

    /// The maximum length of a string, in characters. Longer ones are truncated. The system itself shows fewer.
    static let longestText = 1000
    /// The maximum number of values of a Live Activity that are listed. Further ones are omitted.
    static let mostValues = 40

    /// Creates the lock screen that a push causes.
    /// - Parameters:
    ///   - payload: The JSON body of the push.
    ///   - type: The push type, on which the presentation depends.
    package init(payload: JSONValue, type: PushType) {
        let aps = payload["aps"]
        switch type {
        case .liveactivity:
            self.init(kind: .activity(event: aps["event"].stringValue ?? "update", values: Self.values(aps)))
            (self.staleAt, self.dismissedAt) = (aps["stale-date"].integerValue, aps["dismissal-date"].integerValue)
        case .alert: self.init(kind: .alert)
        default:
            self.init(kind: .silent(SilentReason(rawValue: type.rawValue) ?? .unreadable))
            return
        }
        self.read(aps)
        self.hasAttachment =
            payload["attachment"] != .null || aps["mutable-content"] == .integer(1) && Self.namesFile(payload)
        guard self.kind == .alert, self.title == nil, self.subtitle == nil, self.body == nil else { return }
        self.kind = .silent(aps == .null ? .unreadable : .badgeOnly)
    }

    private init(kind: Kind) { self.kind = kind }

    private mutating func read(_ aps: JSONValue) {
        let alert = aps["alert"]
        if let text = alert.stringValue {
            self.body = Text(text: Self.limited(text))
        } else {
            self.title = Self.text(alert, "title")
            self.subtitle = Self.text(alert, "subtitle")
            self.body = Self.text(alert, "body", key: "loc-key", arguments: "loc-args")
        }
        self.badge = aps["badge"].integerValue
        self.hasSound = aps["sound"] != .null
        self.isCritical = aps["sound"]["critical"] == .integer(1)
        self.level = self.isCritical ? "critical" : Self.limited(aps["interruption-level"].stringValue ?? "active")
        self.thread = aps["thread-id"].stringValue.map(Self.limited)
        self.category = aps["category"].stringValue.map(Self.limited)
        self.summary = alert["summary-arg"].stringValue.map(Self.limited)
    }

    /// Returns a string of an alert, or the key of its localization, or `nil` if the alert has neither.
    /// - Parameters:
    ///   - name: The member with the string, such as `title`.
    ///   - key: The member with the key, or `nil` for `name` with the suffix `-loc-key`.
    ///   - arguments: The member with the key's arguments, or `nil` for `name` with the suffix `-loc-args`.
    private static func text(
        _ alert: JSONValue,
        _ name: String,
        key: String? = nil,
        arguments: String? = nil
    ) -> Text? {
        if let text = alert[name].stringValue, !text.isEmpty { return Text(text: self.limited(text)) }
        guard let key = alert[key ?? "\(name)-loc-key"].stringValue, !key.isEmpty else { return nil }
        let arguments = alert[arguments ?? "\(name)-loc-args"].elements.compactMap(\.stringValue)
        let suffix = arguments.isEmpty ? "" : " (\(arguments.joined(separator: ", ")))"
        return Text(text: self.limited(key + suffix), isKey: true)
    }

    private static func limited(_ text: String) -> String {
        text.utf8.count <= self.longestText ? text : "\(text.prefix(self.longestText))…"
    }

    private static func values(_ aps: JSONValue) -> [Value] {
        var values: [Value] = []
        for part in ["attributes", "content-state"] {
            guard case .object(let members) = aps[part] else { continue }
            for (name, value) in members.sorted(by: { $0.key < $1.key }) where values.count < self.mostValues {
                let text = value.stringValue ?? (try? value.text).map { String(decoding: $0, as: UTF8.self) } ?? ""
                values.append(Value(name: self.limited("\(part).\(name)"), value: self.limited(text)))
            }
        }
        return values
    }

    /// Returns whether a member besides `aps` looks like the URL of a file, which a service extension may attach.
    private static func namesFile(_ payload: JSONValue) -> Bool {
        guard case .object(let members) = payload else { return false }
        return members.contains { name, value in
            name != "aps" && value.stringValue.map { $0.hasPrefix("https://") } == true
        }
    }
}

extension LockScreen {
    private static let colours: UInt64 = 12

    /// Returns the variables of the template `lock-screen`.
    /// - Parameter topic: The topic of the push. Its last component is shown as the name of the app.
    package func model(topic: String, texts: LocalizedTexts) -> PageModel {
        let name = topic.split(separator: ".").last.map(String.init) ?? topic
        var model: PageModel = [
            "app": name, "letter": name.prefix(1).uppercased(),
            "colour": "icon-\(topic.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) } % Self.colours)",
        ]
        model["badge"] = self.badge.map { PageNumber(value: Double($0)) }
        switch self.kind {
        case .alert:
            model["alert"] = self.alert(texts)
            model["stacked"] = self.thread
        case .activity(let event, let values):
            model["activity"] =
                [
                    "event": event,
                    "values": values.map { ["name": $0.name, "value": $0.value] },
                    "alert": self.title == nil && self.body == nil ? [] : [self.alert(texts)],
                ] as PageModel
        case .silent(let reason): model["silent"] = texts["preview.\(reason.rawValue)"]
        }
        return model
    }

    private func alert(_ texts: LocalizedTexts) -> PageModel {
        var alert: PageModel = ["sound": self.hasSound, "attachment": self.hasAttachment]
        for (name, text) in [("title", self.title), ("subtitle", self.subtitle), ("body", self.body)] {
            if let text { alert[name] = ["text": text.text, "isKey": text.isKey] as PageModel }
        }
        alert["level"] = texts.text("preview.level.\(self.level)")
        alert["isQuiet"] = self.level == "passive"
        alert["category"] = self.category
        alert["summary"] = self.summary
        return alert
    }
}
