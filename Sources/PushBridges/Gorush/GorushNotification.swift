import PushSupport
import PushTypes

/// One notification of a request, with all that gorush looks at for iOS.
struct GorushNotification: Hashable, Sendable {
    /// The number of the platform.
    static let iOS: Int64 = 1

    let platform: Int64
    /// The tokens as they came.
    let tokens: [String]
    let topic: String?
    /// The beginning of the caller's own id, which is only repeated in the response.
    let id: String?
    let apnsID: String?
    let collapseID: String?
    /// UNIX seconds; `nil` for none.
    let expiration: Int64?
    let priority: Priority?
    let pushType: String?
    /// The environment that the notification names.
    let environment: PushEnvironment?
    /// The beginning of the text of the message, which is repeated in the response.
    let message: String
    /// The length of the whole message in bytes.
    private let length: Int
    /// The payload as gorush builds it, but for ``GorushPayload``'s corrections.
    let payload: GorushPayload

    init(_ fields: GorushFields) throws(GorushError) {
        self.platform = try fields.integer("platform") ?? 0
        self.tokens = try fields.texts("tokens")
        self.topic = try fields.text("topic")
        // All entries of the response share what they repeat.
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
        // The number of tries is the provider's own.
        _ = try fields.integer("retry")
        self.payload = try GorushPayload(fields)
    }

    private static let priorities: [String: Priority] = ["normal": .powerAware, "high": .immediate]

    /// The number of the notification in the response. A topic counts as one, though for iOS it is the bundle id.
    var count: Int { self.tokens.count + (self.topic == nil ? 0 : 1) }

    /// The longest entries for its tokens in a response, in bytes. Each may repeat the message, of which JSON makes six characters
    /// for one at most.
    var longestEntries: Int { self.count * (512 + 6 * self.length) }

    /// Returns the push.
    ///
    /// - Throws: ``RequestError`` for what no push can have.
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

    /// The push type to which the suffix of the topic belongs; `nil` without a suffix.
    private var derivedType: String? {
        guard let topic else { return nil }
        return PushType.allCases.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }?.rawValue
    }
}
