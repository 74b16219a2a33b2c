import PushSupport

/// The payload of a notification for iOS. It is built as by gorush, except where information would be lost.
///
/// If there are a message and members of `alert`, the message becomes the body. `mutable-content` is omitted from a
/// payload without an alert, where it has no effect.
struct GorushPayload: Hashable, Sendable {
    private var aps: [String: JSONValue] = [:]
    private let data: [String: JSONValue]

    init(_ fields: GorushFields) throws(GorushError) {
        self.aps["alert"] = try Self.alert(fields)
        if let badge = try fields.integer("badge"), badge >= 0 { self.aps["badge"] = .integer(badge) }
        self.aps["sound"] = try Self.sound(fields)
        if try fields.flag("content_available") { self.aps["content-available"] = .integer(1) }
        if try fields.flag("mutable_content"), self.aps["alert"] != nil { self.aps["mutable-content"] = .integer(1) }
        let texts = [
            "category": "category", "thread-id": "thread-id", "interruption_level": "interruption-level",
            "event": "event", "attributes-type": "attributes-type",
        ]
        for (name, member) in texts { self.aps[member] = try fields.text(name).map { .string($0) } }
        self.aps["url-args"] = .texts(try fields.texts("url-args"))
        self.aps["relevance-score"] = try fields.number("relevance-score")
        for name in ["timestamp", "stale-date", "dismissal-date"] {
            if let seconds = try fields.integer(name), seconds > 0 { self.aps[name] = .integer(seconds) }
        }
        for name in ["content-state", "attributes"] {
            let members = try fields.object(name)
            if !members.isEmpty { self.aps[name] = .object(members) }
        }
        self.data = try fields.object("data")
    }

    /// A Boolean value that indicates whether the payload only wakes the app and shows nothing.
    var wakesOnly: Bool {
        self.aps["content-available"] != nil && ["alert", "badge", "sound", "event"].allSatisfy { self.aps[$0] == nil }
    }

    /// Returns all members of the payload.
    /// - Throws: ``RequestError`` if the data has a member `aps`, which would replace that of the payload.
    func members() throws(RequestError) -> [String: JSONValue] {
        guard self.data["aps"] == nil else {
            let message = "aps is made from the other members"
            throw RequestError(.invalid, code: "reserved_field", message: message, path: "data.aps")
        }
        var members = self.data
        members["aps"] = .object(self.aps)
        return members
    }

    // MARK: Parts

    private static let alertTexts = [
        "title", "subtitle", "body", "title-loc-key", "loc-key", "action", "action-loc-key", "launch-image",
        "summary-arg",
    ]

    /// Returns the alert, or `nil` if there is none. If there is only a message, the alert is a string, otherwise an
    /// object.
    private static func alert(_ fields: GorushFields) throws(GorushError) -> JSONValue? {
        let (title, message) = (try fields.text("title"), try fields.text("message"))
        let own = GorushFields(try fields.object("alert"))
        var alert: [String: JSONValue] = [:]
        for name in self.alertTexts { alert[name] = try own.text(name).map { .string($0) } }
        for name in ["title-loc-args", "loc-args"] { alert[name] = .texts(try own.texts(name)) }
        if let count = try own.integer("summary-arg-count"), count > 0 { alert["summary-arg-count"] = .integer(count) }
        if alert["title"] == nil { alert["title"] = title.map { .string($0) } }
        guard !alert.isEmpty else { return message.map { .string($0) } }
        if alert["body"] == nil { alert["body"] = message.map { .string($0) } }
        return .object(alert)
    }

    /// Returns the sound, or `nil` if there is none. The sound is one of a critical alert if the request also has a
    /// `name` or a volume.
    private static func sound(_ fields: GorushFields) throws(GorushError) -> JSONValue? {
        let (name, volume) = (try fields.text("name"), try fields.number("volume"))
        let isLoud = (volume?.numberValue ?? 0) > 0
        if name != nil || isLoud {
            return .object([
                "critical": .integer(1), "name": .string(name ?? "default"),
                "volume": isLoud ? volume ?? .integer(1) : .integer(1),
            ])
        }
        switch fields.any("sound") {
        case .string(let text)?: return text.isEmpty ? nil : .string(text)
        case .object(let members)?:
            var sound = members.filter { ["critical", "name", "volume"].contains($0.key) && $0.value != .null }
            if sound["critical"] == .integer(0) { sound["critical"] = nil }
            return sound.isEmpty ? nil : .object(sound)
        default: return nil
        }
    }
}
