package import PushSupport
package import PushTypes

/// The lock screen of a phone with a push, as far as the payload tells.
///
/// Everything is text: nothing of a payload becomes markup, script or an address.
package struct LockScreen: Hashable, Sendable {
    /// The kinds of what is shown.
    package enum Kind: Hashable, Sendable {
        /// A notification with an alert.
        case alert
        /// A Live Activity: what the app draws is not known, so that its values are listed.
        case activity(event: String, values: [Value])
        /// A push that shows nothing.
        case silent(SilentReason)
    }

    /// The use of a push that shows nothing.
    package enum SilentReason: String, CaseIterable, Hashable, Sendable {
        case background, voip, complication, fileprovider, mdm, location, pushtotalk, widgets, controls
        /// An alert push without text and sound: it may change the badge.
        case badgeOnly
        /// The payload is not one that the system understands.
        case unreadable
    }

    /// A text, and where it comes from.
    package struct Text: Hashable, Sendable {
        package let text: String
        /// Indicates that the text is the key of a localization that only the app has.
        package var isKey = false
    }

    /// A name and a value of a Live Activity.
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

    /// The longest text that is kept, in characters. The system shows fewer.
    static let longestText = 1000
    /// The most values of a Live Activity.
    static let mostValues = 40

    /// - Parameters:
    ///   - payload: The JSON body of the push.
    ///   - type: Its push type.
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

    /// Returns the text of a member, or the key of its localization.
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

    /// Returns `true` if a member beside `aps` looks like the address of a file, which a service extension may attach.
    private static func namesFile(_ payload: JSONValue) -> Bool {
        guard case .object(let members) = payload else { return false }
        return members.contains { name, value in
            name != "aps" && value.stringValue.map { $0.hasPrefix("https://") } == true
        }
    }
}
