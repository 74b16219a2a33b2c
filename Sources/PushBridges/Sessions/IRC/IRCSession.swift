package import NIOCore
import PushStore
package import PushSupport
package import PushTypes

/// A client of an IRC server or of a bouncer, which signs in and listens (RFC 2812; IRCv3 capabilities, SASL 3.1 and
/// server-time).
package struct IRCSession: ChatSession {
    package static let port = 6697
    package static let members = IRCSettings.members

    package static func host(of account: String) -> String? { nil }

    /// The deadlines, in steady time.
    private enum Time {
        /// From the connection to the welcome.
        static let signIn: Duration = .seconds(60)
        /// The silence after which the server is asked for a sign of life.
        static let silence: Duration = .seconds(120)
        /// The time that it has for that.
        static let answer: Duration = .seconds(60)
    }

    /// The longest line, in bytes: 8191 of tags, and 512.
    static let maximumLine = 8191 + 512

    enum Phase: Hashable {
        /// The server lists what it can do.
        case listing
        /// The answer to a request for capabilities is awaited.
        case requesting(isReduced: Bool)
        case authenticating
        /// The welcome is awaited.
        case registering
        case online
        /// A sign of life is awaited.
        case asked
        case ended
    }

    /// The account, without its password once the session is signed in or has ended.
    private(set) var login: ChatLogin
    let settings: IRCSettings
    var phase = Phase.listing
    private var isProven = false
    var offered: [String: String] = [:]
    /// The nick at the server.
    var nick: String { didSet { self.nickWord = IRCText.word(self.nick) } }
    /// The same as it is searched for in lines.
    private(set) var nickWord: IRCText.Word
    private(set) var nicksTried = 0
    var seenThrough: Timestamp
    /// The time through which messages were dealt with before this connection.
    let seenBefore: Timestamp
    private var pending: [UInt8] = []
    private var joins: IRCJoins
    /// The end of the present phase, or of the silence.
    private var deadline: Timestamp?

    package init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError) {
        self.settings = try IRCSettings(login)
        self.login = login
        (self.nick, self.nickWord) = (self.settings.nick, self.settings.nickWord)
        self.joins = IRCJoins(self.settings.channels)
        (self.seenThrough, self.seenBefore) = (memory.seenThrough, memory.seenThrough)
    }

    package var serverName: String { self.login.host }
    package var isSecureFromStart: Bool { true }
    package var memory: ChatMemory { ChatMemory(seenThrough: self.seenThrough) }
    package var nextDeadline: Timestamp? {
        self.deadline.map { deadline in self.joins.nextTry.map { min($0, deadline) } ?? deadline }
    }

    /// Some servers, such as bip, end the connection without a word where account or password are wrong.
    package var closing: ChatFailure {
        guard self.hasSentPassword else { return ChatFailure("the server closed the connection") }
        return ChatFailure(
            "the server closed the connection during the sign-in, as some do for a wrong account or password",
            mayBeRefusal: true
        )
    }

    /// Indicates whether the server has the password, and has not said yet what it thinks of it.
    private var hasSentPassword: Bool {
        switch self.phase {
        case .listing, .requesting, .registering: self.settings.authentication == .pass && self.deadline != nil
        case .authenticating: true
        case .online, .asked, .ended: false
        }
    }

    package mutating func opened(at now: ClockReading) -> [ChatAction] {
        self.deadline = now.steady.advanced(by: Time.signIn)
        var lines = [IRCMessage("CAP", "LS", "302")]
        if self.settings.authentication == .pass {
            lines.append(IRCMessage("PASS", "\(self.login.account):\(self.login.password)"))
        }
        lines += [IRCMessage("NICK", self.nick), IRCMessage("USER", self.ident, "0", "*", self.nick)]
        return [.send(lines.flatMap(\.bytes))]
    }

    /// The name of the user for the server: letters and digits of the nick.
    private var ident: String {
        let letters = self.settings.nick.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }
        return letters.isEmpty ? "martlet" : String(String.UnicodeScalarView(letters.prefix(9)))
    }

    package mutating func secured(at now: ClockReading) -> [ChatAction] { [] }
    package mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction] { [] }

    package mutating func timePassed(at now: ClockReading) -> [ChatAction] {
        let joins = self.joins.takeDue(at: now.steady).flatMap { IRCMessage("JOIN", $0).bytes }
        guard let deadline, deadline <= now.steady else { return joins.isEmpty ? [] : [.send(joins)] }
        switch self.phase {
        case .online:
            self.phase = .asked
            self.deadline = now.steady.advanced(by: Time.answer)
            var lines = [IRCMessage("PING", "martlet")]
            // The nick may have been held by a connection that is gone by now.
            if self.nicksTried > 0, !self.isOwn(self.settings.nick) {
                lines.append(IRCMessage("NICK", self.settings.nick))
            }
            return [.send(joins + lines.flatMap(\.bytes))]
        case .asked: return self.fail("the server gave no sign of life for \(Time.answer.components.seconds) s")
        case .ended: return []
        case .listing, .requesting, .authenticating, .registering:
            return self.fail("the sign-in took more than \(Time.signIn.components.seconds) s")
        }
    }

    package mutating func leave() -> [UInt8] {
        guard self.phase != .ended else { return [] }
        self.end()
        return IRCMessage("QUIT", "").bytes
    }

    private mutating func end() {
        (self.phase, self.deadline, self.pending) = (.ended, nil, [])
        self.joins = IRCJoins([])
        self.login.password = ""
    }

    mutating func fail(_ reason: String, isFinal: Bool = false) -> [ChatAction] {
        self.end()
        return [.failed(ChatFailure(reason, isFinal: isFinal))]
    }
}

// MARK: Lines

extension IRCSession {
    package mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction] {
        var actions: [ChatAction] = []
        var rest = bytes.readableBytesView[...]
        while self.phase != .ended, let end = rest.firstIndex(of: 10) {
            self.pending += rest[..<end]
            rest = rest[(end + 1)...]
            guard self.pending.count <= Self.maximumLine else {
                return actions + self.fail("the server sent a line that is too long")
            }
            let line = self.pending.last == 13 ? self.pending.dropLast() : self.pending[...]
            self.pending = []
            if let message = IRCMessage(line) { actions += self.received(message, at: now) }
        }
        guard self.phase != .ended else { return actions }
        guard self.pending.count + rest.count <= Self.maximumLine else {
            return actions + self.fail("the server sent a line that is too long")
        }
        self.pending += rest
        return actions
    }

    private mutating func received(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        if self.phase == .online || self.phase == .asked {
            self.phase = .online
            self.deadline = now.steady.advanced(by: Time.silence)
        }
        switch message.command {
        case "PING": return [.send(IRCMessage("PONG", message.parameters.last ?? "").bytes)]
        case "ERROR": return self.receivedError(message)
        case "CAP": return self.receivedCapabilities(message)
        case "AUTHENTICATE": return self.receivedAuthenticate(message)
        case "NICK":
            if let old = message.nick, self.isOwn(old), let new = message.parameter(0) { self.nick = new }
            return []
        case "JOIN":
            guard let nick = message.nick, self.isOwn(nick), let channel = message.parameter(0),
                self.joins.joined(Self.folded(channel))
            else { return [] }
            return [.trouble(self.joins.trouble)]
        case "PRIVMSG", "NOTICE": return self.receivedText(message, at: now)
        default: return self.receivedNumeric(message, at: now)
        }
    }

    private mutating func receivedNumeric(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        switch (message.command, self.phase) {
        case ("903", .authenticating), ("907", .authenticating):
            self.isProven = true
            return self.endNegotiation()
        case ("902", .authenticating), ("904", .authenticating), ("905", .authenticating):
            return self.fail("the server refused account or password: \(Self.reason(message))", isFinal: true)
        case ("906", .authenticating): return self.fail("the server ended the authentication")
        case (_, .online), (_, .asked): return self.receivedRefusal(message, at: now)
        case (_, .ended): return []
        case ("001", _): return self.welcomed(message, at: now)
        case ("433", _), ("436", _), ("437", _): return self.tryAnotherNick()
        case ("432", _): return self.fail("the server does not allow this nick: \(Self.reason(message))", isFinal: true)
        case ("464", _):
            return self.fail("the server refused account or password: \(Self.reason(message))", isFinal: true)
        case ("465", _):
            return self.fail("the server has banned this host or account: \(Self.reason(message))", isFinal: true)
        default: return []
        }
    }

    private mutating func welcomed(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        guard self.isProven || self.settings.authentication == .pass else {
            return self.fail("the server offers no SASL")
        }
        self.phase = .online
        self.deadline = now.steady.advanced(by: Time.silence)
        self.login.password = ""
        if let nick = message.parameter(0) { self.nick = nick }
        guard !self.settings.channels.isEmpty else { return [.signedIn] }
        return [.send(self.settings.channels.flatMap { IRCMessage("JOIN", $0).bytes }), .signedIn]
    }

    /// The words by which servers refuse account or password without the number of a message for that.
    private static let refusals = ["password", "credential"]
    /// The words by which they may.
    private static let doubts = ["denied", "authenticat", "unauthori", "login"]

    private mutating func receivedError(_ message: IRCMessage) -> [ChatAction] {
        let words = Self.reason(message)
        let cause = Self.cause(words).lowercased()
        guard self.hasSentPassword, (Self.refusals + Self.doubts).contains(where: cause.contains) else {
            return self.fail("the server closed the connection: \(words)")
        }
        guard Self.refusals.contains(where: cause.contains) else {
            self.end()
            let reason = "the server closed the connection during the sign-in: \(words)"
            return [.failed(ChatFailure(reason, mayBeRefusal: true))]
        }
        return self.fail("the server refused account or password: \(words)", isFinal: true)
    }

    /// Returns the cause in an error, without the name and the host of this client, which may have any words:
    /// `Closing Link: ada[192.0.2.1] (cause)`.
    private static func cause(_ words: String) -> Substring {
        guard words.lowercased().hasPrefix("closing link") else { return words[...] }
        if let start = words.firstIndex(of: "(") { return words[start...] }
        return words.split(separator: " ", maxSplits: 3).dropFirst(3).first ?? ""
    }

    /// Takes the refusal of a channel, which is asked for again later.
    private mutating func receivedRefusal(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        guard IRCJoins.isRefusal(message.command), let channel = message.parameter(1),
            self.joins.refused(Self.folded(channel), Self.reason(message), at: now.steady)
        else { return [] }
        return [.trouble(self.joins.trouble)]
    }

    /// The nick is in use, perhaps by an earlier connection of this session that the server still holds.
    private mutating func tryAnotherNick() -> [ChatAction] {
        self.nicksTried += 1
        guard self.nicksTried <= 3 else { return self.fail("the nick is in use, and so are similar ones") }
        self.nick = self.settings.nick + String(repeating: "_", count: self.nicksTried)
        return [.send(IRCMessage("NICK", self.nick).bytes)]
    }

    /// Returns what a server says, for people.
    private static func reason(_ message: IRCMessage) -> String { self.quoted(message.parameters.last ?? "") }

    private static func quoted(_ text: String) -> String { ChatMessage.beginning(of: IRCText.plain(text), 200) }
}
