package import PushStore
package import PushSupport
package import PushTypes

/// A request to broadcast to a channel: the content of a Live Activity's update or end, and how long it is worth sending.
package struct BroadcastRequest: Sendable {
    package static let members: Set<String> = [
        "channel", "environment", "name", "guarantee", "payload", "liveActivity", "alert", "sound", "relevanceScore",
        "priority", "expiration", "expiresIn",
    ]
    /// The longest time for which the push service stores a broadcast (reference 4.1): 8 hours, in seconds.
    package static let longestStorage: Int64 = 8 * 3600

    package let channel: ChannelID
    /// The environment of the channel; `nil` for that of the channel which the provider knows.
    package let environment: PushEnvironment?
    private let fields: JSONFields

    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        let text = try fields.requiredString("channel", maximum: ChannelID.maximumLength)
        guard let channel = ChannelID(text) else {
            throw fields.error("channel", "invalid_value", "it is no channel id: use the text that made the channel")
        }
        self.channel = channel
        self.environment = try fields.environment("environment")
        // The push type of a broadcast is given.
        var members = fields.members
        members["pushType"] = .string(PushType.liveactivity.rawValue)
        self.fields = try JSONFields(members: members, path: nil, known: Self.members.union(["pushType"]))
    }

    /// Returns the notification whose one recipient is the channel.
    /// - Throws: ``RequestError`` that names the member at fault.
    package func notification(
        to channel: ChannelRecord,
        of bundleID: Topic,
        now: Timestamp
    ) throws(RequestError) -> NotificationRequest {
        var (content, warnings) = try NotificationContent.read(
            self.fields,
            bundleID: bundleID,
            now: now,
            isBroadcast: true
        )
        try content.checkExpiration(self.fields, now: now)
        if content.expiration == .servicePolicy, content.expiresIn == nil {
            switch channel.storage {
            case .none: content.expiration = .immediate
            case .newest: content.expiresIn = Self.longestStorage
            }
        } else if channel.storage == .newest, let seconds = content.expiresIn, seconds > Self.longestStorage {
            let message = "it is tried for so long, and stored for 8 h at most once the push service has it"
            warnings.append(ContentWarning(field: "expiresIn", message: message))
        }
        var request = NotificationRequest(
            content: content,
            audience: .channel(BroadcastChannel(id: channel.id, storage: channel.storage)),
            environment: channel.environment
        )
        request.name = try self.fields.string("name", maximum: NotificationRequest.maximumName)
        let guarantee = try self.fields.value(
            "guarantee",
            maximum: 32,
            orElse: "invalid_value",
            "use atLeastOnce or atMostOnce"
        ) { NotificationRecord.Guarantee(rawValue: $0) }
        request.guarantee = guarantee ?? .atLeastOnce
        request.warnings = warnings
        // A channel has no recipients that could have opted out.
        request.consent = ConsentRules(ignoresQuietHours: true, ignoresCap: true)
        return request
    }
}
