import PushSupport
import PushTypes

/// The content of an FCM message: the headers and the payload of its `apns` block, completed from the blocks `data` and
/// `notification`, which are for all platforms.
struct FCMContent: Hashable, Sendable {
    /// The supported header fields, by their names in lower case.
    private let headers: [String: String]
    private let payload: [String: JSONValue]

    private static let type = "apns-push-type"
    private static let known: Set = [
        FCMContent.type, "apns-priority", "apns-expiration", "apns-collapse-id", "apns-topic", "apns-id",
    ]
    /// The prefixes and the names that FCM reserves among the keys of `data`.
    private static let (reservedPrefixes, reservedNames) = (["google", "gcm"], Set(["from", "message_type", "aps"]))

    init(_ message: ProtoFields) throws(FCMError) {
        let apns = try message.message("apns")
        var headers: [String: String] = [:]
        for (name, value) in try apns?.texts("headers") ?? [] where Self.known.contains(name.lowercased()) {
            headers[name.lowercased()] = value
        }
        self.headers = headers
        var payload = try apns?.object("payload") ?? [:]
        var aps = try Self.aps(payload["aps"])
        let data = try message.texts("data")
        for (index, entry) in data.enumerated() {
            guard !Self.isReserved(entry.name) else {
                throw .invalid("message.data[\(index)].key", "FCM keeps this name for itself", code: .invalidArgument)
            }
            if payload[entry.name] == nil { payload[entry.name] = .string(entry.value) }
        }
        if aps["alert"] == nil, let notification = try message.message("notification") {
            let alert: JSONValue = .members([
                "title": try notification.text("title").map { .string($0) },
                "body": try notification.text("body").map { .string($0) },
            ])
            if alert != .object([:]) { aps["alert"] = alert }
        }
        // The system runs an extension only for an alert.
        if aps["alert"] == nil { aps["mutable-content"] = nil }
        let mayWake = ["alert", "background", nil].contains(headers[Self.type])
        if mayWake, !Self.isVisible(aps), aps["event"] == nil, !data.isEmpty { aps["content-available"] = .integer(1) }
        payload["aps"] = aps.isEmpty ? payload["aps"] : .object(aps)
        self.payload = payload
    }

    func push(to app: Topic, now: Timestamp) throws(FCMError) -> TranslatedPush {
        var push = TranslatedPush()
        push.name = TranslatedPush.name(self.headers["apns-id"])
        let type = try self.pushType(to: app)
        push.members["pushType"] = .string(type)
        if let text = self.headers["apns-priority"] {
            guard let priority = Priority(header: text) else { throw Self.invalid("apns-priority", "use 10, 5 or 1") }
            // APNs accepts background pushes with priority 5 only, which is the provider's default.
            let isBackground = type == PushType.background.rawValue
            if !isBackground { push.members["priority"] = .integer(Int64(priority.rawValue)) }
        }
        if let text = self.headers["apns-expiration"] {
            guard let expiration = Expiration(header: text) else {
                throw Self.invalid("apns-expiration", "use UNIX seconds")
            }
            push.members["expiration"] = ForeignExpiration.member(expiration.seconds, now: now)
        }
        push.members["collapseId"] = self.headers["apns-collapse-id"].map { .string($0) }
        push.members["payload"] = .object(self.payload)
        return push
    }

    /// Returns the push type that the headers name, otherwise the one that the topic's suffix implies, and otherwise
    /// the one that fits the payload.
    private func pushType(to app: Topic) throws(FCMError) -> String {
        var derived: PushType?
        if let text = self.headers["apns-topic"] {
            guard let topic = Topic(text), topic == app || topic.bundleID == app else {
                throw Self.invalid("apns-topic", "the project is for \(app), with the suffix of a push type or without")
            }
            derived = PushType.allCases.first { !$0.topicSuffix.isEmpty && text == app.name + $0.topicSuffix }
        }
        if let text = self.headers[Self.type] {
            guard let type = PushType(rawValue: text) else { throw Self.invalid(Self.type, "there is no such type") }
            return type.rawValue
        }
        let aps: [String: JSONValue] = if case .object(let aps)? = self.payload["aps"] { aps } else { [:] }
        let byContent: PushType = aps["event"] != nil ? .liveactivity : Self.isVisible(aps) ? .alert : .background
        return (derived ?? byContent).rawValue
    }

    // MARK: Parts

    /// Returns the members of `aps`. The result is empty if `aps` is absent. Flags that some clients encode as Booleans
    /// are converted.
    private static func aps(_ value: JSONValue?) throws(FCMError) -> [String: JSONValue] {
        guard let value, value != .null else { return [:] }
        guard case .object(var aps) = value else { throw .invalid("message.apns.payload.aps", "it must be an object") }
        for name in ["content-available", "mutable-content"] {
            switch aps[name] {
            case .bool(true)?: aps[name] = .integer(1)
            case .bool(false)?, .integer(0)?: aps[name] = nil
            default: break
            }
        }
        return aps
    }

    private static func isVisible(_ aps: [String: JSONValue]) -> Bool {
        ["alert", "badge", "sound"].contains { aps[$0] != nil }
    }

    private static func isReserved(_ name: String) -> Bool {
        Self.reservedNames.contains(name) || Self.reservedPrefixes.contains { name.hasPrefix($0) }
    }

    private static func invalid(_ header: String, _ message: String) -> FCMError {
        .invalid("message.apns.headers[\(header)]", message, code: .invalidArgument)
    }
}

extension Expiration {
    /// The value of `apns-expiration` in UNIX seconds, 0 for a push that is not stored, or `nil` for no expiration.
    fileprivate var seconds: Int64? {
        switch self {
        case .servicePolicy: nil
        case .immediate: 0
        case .at(let seconds): seconds
        }
    }
}
