import PushSupport

/// The alert for an event in the form that Matrix clients localize: one of their localization keys, and its arguments.
struct MatrixAlert: Hashable, Sendable {
    /// The maximum length of the name of a sender or a room, in characters. Longer ones are truncated.
    private static let maximumName = 1024
    /// The maximum length of a message body, in characters. A longer one never fits into a payload.
    private static let maximumBody = 4096

    /// The localization keys that the clients support.
    static let keys = [
        "IMAGE_FROM_USER_IN_ROOM", "IMAGE_FROM_USER", "MSG_FROM_USER_IN_ROOM_WITH_CONTENT",
        "MSG_FROM_USER_WITH_CONTENT",
        "ACTION_FROM_USER_IN_ROOM", "ACTION_FROM_USER", "MSG_FROM_USER_IN_ROOM", "MSG_FROM_USER",
        "VIDEO_CALL_FROM_USER",
        "VOICE_CALL_FROM_USER", "USER_INVITE_TO_NAMED_ROOM", "USER_INVITE_TO_CHAT",
    ]

    let key: String
    let arguments: [String]
    /// The values of the template variables `sender`, `room` and `body`.
    let variables: [String: String]

    /// Creates the alert for an event. Returns `nil` if the event has no type or is not shown.
    init?(_ notification: MatrixNotification) {
        let sender = Self.cut(notification.senderName ?? notification.sender ?? " ", Self.maximumName)
        let room = (notification.roomName ?? notification.roomAlias).map { Self.cut($0, Self.maximumName) }
        var variables = ["sender": sender, "room": room ?? ""]
        switch notification.type {
        case nil: return nil
        case "m.room.message", "m.room.encrypted":
            let body = notification.content["body"]?.stringValue.map { Self.cut($0, Self.maximumBody) }
            variables["body"] = body ?? ""
            let message = Message(notification.content["msgtype"]?.stringValue, body: body)
            (self.key, self.arguments) = message.text(sender, room)
        case "m.call.invite":
            let offer = notification.content["offer"]?["sdp"].stringValue
            let hasVideo = offer?.contains("m=video") ?? false
            (self.key, self.arguments) = (hasVideo ? "VIDEO_CALL_FROM_USER" : "VOICE_CALL_FROM_USER", [sender])
        case "m.room.member":
            guard notification.membership == "invite", notification.isForTarget else { return nil }
            (self.key, self.arguments) =
                room.map { ("USER_INVITE_TO_NAMED_ROOM", [sender, $0]) } ?? ("USER_INVITE_TO_CHAT", [sender])
        default: (self.key, self.arguments) = ("MSG_FROM_USER", [sender])
        }
        self.variables = variables
    }

    private enum Message {
        case image(String)
        case action(String)
        case text(String)
        /// A message whose body is empty or absent, because the homeserver does not know it or does not send it.
        case withoutText

        init(_ type: String?, body: String?) {
            guard let type, let body else {
                self = .withoutText
                return
            }
            switch type {
            case "m.image": self = .image(body)
            case "m.emote": self = .action(body)
            default: self = body.isEmpty ? .withoutText : .text(body)
            }
        }

        func text(_ sender: String, _ room: String?) -> (String, [String]) {
            switch (self, room) {
            case (.image(let body), let room?): ("IMAGE_FROM_USER_IN_ROOM", [sender, body, room])
            case (.image(let body), nil): ("IMAGE_FROM_USER", [sender, body])
            case (.action(let body), let room?): ("ACTION_FROM_USER_IN_ROOM", [room, sender, body])
            case (.action(let body), nil): ("ACTION_FROM_USER", [sender, body])
            case (.text(let body), let room?): ("MSG_FROM_USER_IN_ROOM_WITH_CONTENT", [sender, room, body])
            case (.text(let body), nil): ("MSG_FROM_USER_WITH_CONTENT", [sender, body])
            case (.withoutText, let room?): ("MSG_FROM_USER_IN_ROOM", [sender, room])
            case (.withoutText, nil): ("MSG_FROM_USER", [sender])
            }
        }
    }

    private static func cut(_ text: String, _ maximum: Int) -> String {
        guard text.utf8.count > maximum else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(maximum)))
    }
}
