package import PushSupport
package import PushTypes

/// A request to broadcast to a channel: the content of a Live Activity's update or end, and its expiration.
package struct BroadcastRequest: Sendable {
    private static let channelMember = Member.text("channel", maximum: ChannelID.maximumLength, as: .channelID)
        .parsed("invalid_value", "it is no channel id: use the text that made the channel") { ChannelID($0) }

    package static let object = RequestObject(
        required: [Self.channelMember],
        optional: [
            Member.environment.described("Of a channel that was made elsewhere; default that of the channel."),
            NotificationRequest.Members.name, NotificationRequest.Members.guarantee,
            LiveActivityBuilder.member.described("The event update or end with its state."),
            AlertBuilder.alertMember, AlertBuilder.soundMember, PayloadBuilder.relevanceScoreMember,
            PayloadBuilder.payloadMember.described("The whole payload."),
            Member.json("priority", as: .integer(of: [5, 10])),
            ContentExpiration.absolute.described("How long it is tried, and stored if the channel stores."),
            ContentExpiration.relative.described("The same from now on."),
        ]
    ) {
        $0.named("BroadcastRequest").example(
            .object([
                "channel": .string("dGVzdC1jaGFubmVsLTAx"),
                "liveActivity": .object(["event": .string("update"), "contentState": .object(["home": .integer(1)])]),
            ])
        )
    }

    /// The maximum time for which the push service stores a broadcast (reference 4.1), in seconds: 8 hours.
    package static let longestStorage: Int64 = 8 * 3600

    package let channel: ChannelID
    /// The environment of the channel, or `nil` for the environment in which the provider knows the channel.
    package let environment: PushEnvironment?
    private let fields: JSONFields

    /// Reads the request from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields) throws(RequestError) {
        self.channel = try fields.required(Self.channelMember)
        self.environment = try fields.value(Member.environment)
        // A broadcast is always of the push type liveactivity.
        var members = fields.members
        members["pushType"] = .string(PushType.liveactivity.rawValue)
        self.fields = try JSONFields(members: members, path: nil, known: Self.object.known.union(["pushType"]))
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
        request.name = try self.fields.value(NotificationRequest.Members.name)
        request.guarantee = try self.fields.value(NotificationRequest.Members.guarantee) ?? .atLeastOnce
        request.warnings = warnings
        // A channel has no recipients that could have opted out.
        request.consent = ConsentRules(ignoresQuietHours: true, ignoresCap: true)
        return request
    }
}
