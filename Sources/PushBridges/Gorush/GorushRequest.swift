import Foundation
import PushSupport
import PushTypes

/// The body of gorush's `POST /api/push`, which contains the notifications to send.
struct GorushRequest: Hashable, Sendable {
    /// The maximum length of a body, in bytes. A request with a longer one is rejected.
    static let maximumBody = 8 * 1024 * 1024
    /// The maximum total number of tokens in all notifications of a request. gorush itself has no such limit.
    static let maximumTokens = 50_000
    /// The default maximum number of notifications in a request.
    static let standardNotifications = 100

    /// The notifications for iOS. Those for other platforms are dropped, as by a gorush server with these disabled.
    let notifications: [GorushNotification]
    /// The maximum total length of the log entries for all tokens in a response, in bytes. In shadow mode, it limits
    /// the length of the old server's response. Tokens of dropped notifications are included.
    let longestEntries: Int

    /// Parses the body. Throws ``GorushError`` if it is malformed or has more than `maximum` notifications for all
    /// platforms.
    init(_ body: Data, maximum: Int = Self.standardNotifications) throws(GorushError) {
        guard let json = try? JSONValue(parsing: body) else { throw .missing }
        guard let entries = try GorushFields(json).array("notifications") else { throw .missing }
        guard !entries.isEmpty else { throw .empty }
        var all: [GorushNotification] = []
        // All notifications are parsed before they are counted, because the first wrong type is the error of the whole
        // request.
        for entry in entries { all.append(try GorushNotification(GorushFields(entry))) }
        guard all.count <= maximum else { throw .tooMany(all.count, limit: maximum) }
        let notifications = all.filter { $0.platform == GorushNotification.iOS }
        let tokens = notifications.reduce(0) { $0 + $1.tokens.count }
        guard tokens <= Self.maximumTokens else { throw .tooManyTokens(tokens, limit: Self.maximumTokens) }
        (self.notifications, self.longestEntries) = (notifications, all.reduce(0) { $0 + $1.longestEntries })
    }

    /// The value of `counts` in the response: the number of tokens and topics in all notifications.
    var count: Int { self.notifications.reduce(0) { $0 + $1.count } }
}

/// One notification of a request, with all members that gorush uses for iOS.
struct GorushNotification: Hashable, Sendable {
    /// gorush's number for the platform iOS.
    static let iOS: Int64 = 1

    let platform: Int64
    let tokens: [String]
    let topic: String?
    /// The client's id for the notification, truncated, or `nil` if it has none. It is only repeated in the response.
    let id: String?
    let apnsID: String?
    let collapseID: String?
    /// The expiration in UNIX seconds, or `nil` if the notification has none.
    let expiration: Int64?
    let priority: Priority?
    let pushType: String?
    /// The environment that the notification names, or `nil` if it names none.
    let environment: PushEnvironment?
    /// The message, truncated. It is only repeated in the response.
    let message: String
    /// The length of the whole message in bytes, before truncation, from which ``longestEntries`` is computed.
    private let length: Int
    /// The payload that gorush would build, with the corrections that ``GorushPayload`` describes.
    let payload: GorushPayload

    init(_ fields: GorushFields) throws(GorushError) {
        self.platform = try fields.integer("platform") ?? 0
        self.tokens = try fields.texts("tokens")
        self.topic = try fields.text("topic")
        // All log entries of the response repeat these strings.
        self.id = try fields.text("notif_id")?.bounded(bytes: GorushLogEntry.maximumText)
        self.apnsID = try fields.text("apns_id")
        self.collapseID = try fields.text("collapse_id")
        self.expiration = try fields.integer("expiration")
        self.priority = Self.priorities[try fields.text("priority") ?? ""]
        self.pushType = try fields.text("push_type")
        let (isProduction, isDevelopment) = (try fields.flag("production"), try fields.flag("development"))
        self.environment = isProduction ? .production : isDevelopment ? .sandbox : nil
        let message = try fields.text("message")
        self.message = message?.bounded(bytes: GorushLogEntry.maximumText) ?? ""
        self.length = message?.utf8.count ?? 0
        // The provider decides the number of attempts itself.
        _ = try fields.integer("retry")
        self.payload = try GorushPayload(fields)
    }

    private static let priorities: [String: Priority] = ["normal": .powerAware, "high": .immediate]

    /// The number of recipients that the response counts for the notification. A topic counts as one, although for iOS
    /// it is the bundle id.
    var count: Int { self.tokens.count + (self.topic == nil ? 0 : 1) }

    /// The maximum total length of the log entries for the notification's tokens in a response, in bytes. Each entry
    /// may repeat the message, each byte of which may take up to six bytes in JSON.
    var longestEntries: Int { self.count * (512 + 6 * self.length) }

    /// Returns the push in the form for the provider's checks.
    /// - Throws: ``RequestError`` if the data of the payload has a member `aps`.
    func push(to app: Topic, now: Timestamp) throws(RequestError) -> TranslatedPush {
        var push = TranslatedPush()
        push.name = TranslatedPush.name(self.id ?? self.apnsID)
        let type = self.pushType ?? self.derivedType
        let isBackground = self.payload.wakesOnly && (type == nil || type == PushType.alert.rawValue)
        let named = isBackground ? PushType.background.rawValue : type
        push.members["pushType"] = .string(named ?? PushType.alert.rawValue)
        if let topic, Topic(topic)?.bundleID != app { push.members["topic"] = .string(topic) }
        if let priority, named != PushType.background.rawValue {
            push.members["priority"] = .integer(Int64(priority.rawValue))
        }
        push.members["collapseId"] = self.collapseID.map { .string($0) }
        push.members["expiration"] = ForeignExpiration.member(self.expiration, now: now)
        push.members["payload"] = .object(try self.payload.members())
        return push
    }

    /// The push type that the suffix of the topic implies, or `nil` if the topic has no suffix.
    private var derivedType: String? {
        guard let topic else { return nil }
        return PushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }?.rawValue
    }
}

/// The error of a whole request, with gorush's wording.
enum GorushError: Error, Hashable, Sendable {
    /// The error for missing notifications, and for a member of the wrong type.
    case missing
    case empty
    case tooMany(Int, limit: Int)
    /// The error for notifications that together have more tokens than the limit.
    case tooManyTokens(Int, limit: Int)

    var message: String {
        switch self {
        case .missing: "Missing notifications field."
        case .empty: "Notifications field is empty."
        case .tooMany(let count, let limit): "Number of notifications(\(count)) over limit(\(limit))"
        case .tooManyTokens(let count, let limit): "Number of tokens(\(count)) over limit(\(limit))"
        }
    }
}
