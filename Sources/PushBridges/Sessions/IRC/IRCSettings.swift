import PushSupport

struct IRCSettings: Hashable, Sendable {
    /// The way in which the client proves that the account is its own.
    enum Authentication: String, Hashable, Sendable, CaseIterable {
        case sasl
        /// Authentication by the command `PASS account:password`, which bouncers support.
        case pass
    }

    /// The maximum lengths of a nick and of a channel name, in bytes. Settings with longer ones are rejected.
    private static let (maximumNick, maximumChannel) = (64, 100)
    /// The maximum numbers of channels and of highlight words. Settings with more are rejected.
    private static let (maximumChannels, maximumHighlights) = (50, 20)

    private enum Members {
        static let nick = Member.text("nick", 1...IRCSettings.maximumNick)
        static let channels = Member.texts(
            "channels",
            0...IRCSettings.maximumChannels,
            maximum: IRCSettings.maximumChannel
        ).parsedEach("invalid_value", "a channel begins with # and has no spaces") {
            IRCSettings.isChannel($0) ? $0 : nil
        }
        static let highlights = Member.texts(
            "highlights",
            0...IRCSettings.maximumHighlights,
            maximum: IRCSettings.maximumNick
        )
        static let authentication = Member.choice("authentication", of: Authentication.self)
    }

    static let object = RequestObject(
        optional: [Members.nick, Members.channels, Members.highlights, Members.authentication]
    )

    let nick: String
    let nickWord: IRCText.Word
    /// The channels that the client joins. A bouncer joins its own channels in addition.
    let channels: [String]
    /// The words besides the nick that make a message in a channel a highlight.
    let highlights: [IRCText.Word]
    let authentication: Authentication

    /// Reads the settings of a login. Throws ``RequestError`` that names the member at fault.
    init(_ login: ChatLogin) throws(RequestError) {
        for (name, text) in [("account", login.account), ("password", login.password)]
        where text.utf8.contains(where: { [0, 10, 13].contains($0) }) {
            throw RequestError(.invalid, code: "invalid_value", message: "it must not have line ends", path: name)
        }
        let fields = try login.fields(Self.object)
        // At a bouncer an account may contain a client name after @ and a network after a slash.
        let account = login.account.prefix { $0 != "@" && $0 != "/" }
        let nick = try fields.value(Members.nick) ?? String(account)
        guard Self.isMiddle(nick), !"#&+!*".contains(nick.first ?? "#") else {
            throw fields.error("nick", "invalid_value", "a nick has no spaces, and begins with none of # & + ! *")
        }
        (self.nick, self.nickWord) = (nick, IRCText.word(nick))
        self.channels = try fields.value(Members.channels) ?? []
        self.highlights = try fields.value(Members.highlights)?.map(IRCText.word) ?? []
        self.authentication = try fields.value(Members.authentication) ?? .sasl
    }

    private static func isChannel(_ text: String) -> Bool {
        Self.isMiddle(text) && !text.contains(",") && "#&+!".contains(text.first ?? " ")
    }

    /// Returns whether a string can be a parameter at any position of a message, not only the last.
    private static func isMiddle(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix(":") && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
