package import PushSupport

/// A push that reports one or several messages of one conversation.
package struct ChatPush: Hashable, Sendable {
    package var message: ChatMessage
    package var count: Int

    package init(_ message: ChatMessage, count: Int = 1) { (self.message, self.count) = (message, count) }
}

/// The settings of a session that determine which messages are pushed, and with which content.
package struct ChatPushSettings: Hashable, Sendable {
    /// The channel messages that are pushed.
    package enum Channels: String, Hashable, Sendable, CaseIterable {
        /// The choice of those messages that contain the nick or another of the user's highlight words.
        case highlights
        case all
        case none
    }

    private static let channelsMember = Member.choice("channelMessages", of: Channels.self)
    private static let textMember = Member.bool("showText")
    static let object = RequestObject(optional: [Self.channelsMember, Self.textMember])

    /// The channel messages that are pushed. Default ``Channels/highlights``.
    package var channels = Channels.highlights
    /// A Boolean value that indicates whether pushes contain the text of messages, which is then readable to the push
    /// service. Default `false`: pushes contain only the sender and the conversation.
    package var showsText = false

    package init() {}

    /// Reads the settings of a session. Settings of the session's protocol are ignored.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ settings: JSONValue) throws(RequestError) {
        guard case .object(let members) = settings else {
            throw RequestError.invalid("settings", "it must be a JSON object")
        }
        let own = members.filter { Self.object.known.contains($0.key) }
        let fields = try JSONFields(members: own, path: "settings", known: Self.object.known)
        self.channels = try fields.value(Self.channelsMember) ?? .highlights
        self.showsText = try fields.value(Self.textMember) ?? false
    }

    /// Returns whether the settings permit a push of a message that arrives while the user is away.
    func wants(_ message: ChatMessage) -> Bool {
        guard !message.isDirect else { return true }
        return switch self.channels {
        case .highlights: message.isHighlight
        case .all: true
        case .none: false
        }
    }
}
