package import NIOCore
import ProviderModel
package import PushSupport
package import PushTypes

/// A client of an IRC server or bouncer that signs in and receives messages (RFC 2812; IRCv3 capabilities, SASL 3.1 and
/// server-time).
package struct IRCSession: ChatSession {
    package static let port = 6697
    package static let settings = IRCSettings.object

    package static func host(of account: String) -> String? { nil }

    private enum Time {
        /// The maximum time from the connection to the server's welcome (numeric 001), after which the session fails.
        static let signIn: Duration = .seconds(60)
        /// The time without received messages after which the client pings the server.
        static let silence: Duration = .seconds(120)
        /// The maximum time from the ping until the server sends any message, after which the session fails.
        static let answer: Duration = .seconds(60)
    }

    /// The maximum length of a line in bytes: 8191 for tags, 512 for the rest. A longer line fails the session.
    static let maximumLine = 8191 + 512

    private enum Phase: Hashable {
        /// The phase in which the client waits for the list of the server's capabilities.
        case listing
        /// The phase in which the client waits for the reply to its request for capabilities. `isReduced` is `true` for
        /// a second request, for SASL alone, after the server has rejected the first.
        case requesting(isReduced: Bool)
        case authenticating
        /// The phase in which the client waits for the server's welcome (numeric 001), after which it is signed in.
        case registering
        case online
        /// The phase in which the client waits for the reply to a ping. Any message of the server ends the wait.
        case asked
        case ended
    }

    /// The login. Its password is removed once the session is signed in or has ended.
    private var login: ChatLogin
    private let settings: IRCSettings
    private var phase = Phase.listing
    private var isProven = false
    private var offered: [String: String] = [:]
    private var nick: String { didSet { self.nickWord = IRCText.word(self.nick) } }
    private var nickWord: IRCText.Word
    private var nicksTried = 0
    private var seenThrough: Timestamp
    /// The time up to which earlier connections have processed messages. Older replayed messages are ignored.
    private let seenBefore: Timestamp
    private var pending: [UInt8] = []
    private var joins: IRCJoins
    /// The deadline of the current phase, or of the next ping, or `nil` while there is no connection.
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

    /// The failure to report if the server closes the connection. Some servers, such as bip, close it without an error
    /// if the account or the password is wrong.
    package var closing: ChatFailure {
        guard self.hasSentPassword else { return ChatFailure("the server closed the connection") }
        return ChatFailure(
            "the server closed the connection during the sign-in, as some do for a wrong account or password",
            mayBeRefusal: true
        )
    }

    /// A Boolean value that indicates whether the password has been sent and the server has neither accepted nor
    /// refused it yet.
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

    /// The user name in the `USER` command: up to nine ASCII letters of the nick, or `martlet` if it has none.
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
            // An earlier connection that used the nick may be closed by now.
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

    private mutating func fail(_ reason: String, isFinal: Bool = false) -> [ChatAction] {
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

    /// The words that identify an error without a number as a refusal of the account or the password.
    private static let refusals = ["password", "credential"]
    /// The words in an error that may mean a refusal of the account or the password, or something else.
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

    /// Returns the cause in an error message, such as `Closing Link: ada[192.0.2.1] (cause)`. The nick and the host in
    /// front of the cause are omitted, because they may contain any words.
    private static func cause(_ words: String) -> Substring {
        guard words.lowercased().hasPrefix("closing link") else { return words[...] }
        if let start = words.firstIndex(of: "(") { return words[start...] }
        return words.split(separator: " ", maxSplits: 3).dropFirst(3).first ?? ""
    }

    /// Handles an error reply to a join. The session tries again later.
    private mutating func receivedRefusal(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        guard IRCJoins.isRefusal(message.command), let channel = message.parameter(1),
            self.joins.refused(Self.folded(channel), Self.reason(message), at: now.steady)
        else { return [] }
        return [.trouble(self.joins.trouble)]
    }

    /// Requests another nick, because the current one is in use. The session fails after three attempts.
    private mutating func tryAnotherNick() -> [ChatAction] {
        self.nicksTried += 1
        guard self.nicksTried <= 3 else { return self.fail("the nick is in use, and so are similar ones") }
        self.nick = self.settings.nick + String(repeating: "_", count: self.nicksTried)
        return [.send(IRCMessage("NICK", self.nick).bytes)]
    }

    private static func reason(_ message: IRCMessage) -> String { self.quoted(message.parameters.last ?? "") }

    private static func quoted(_ text: String) -> String { ChatMessage.beginning(of: IRCText.plain(text), 200) }
}

extension IRCSession {
    private static let wanted = ["account-tag", "message-tags", "server-time", "znc.in/self-message"]
    /// The maximum number of a server's capabilities that are remembered. Further ones are ignored.
    private static let maximumOffered = 256

    private mutating func receivedCapabilities(_ message: IRCMessage) -> [ChatAction] {
        switch (message.parameter(1)?.uppercased(), self.phase) {
        case ("LS", .listing):
            for item in (message.parameters.last ?? "").split(separator: " ")
            where self.offered.count < Self.maximumOffered {
                let parts = item.split(separator: "=", maxSplits: 1)
                guard let name = parts.first else { continue }
                self.offered[String(name)] = parts.count > 1 ? String(parts[1]) : ""
            }
            // An asterisk announces that the list continues on another line.
            if message.parameters.count > 3, message.parameter(2) == "*" { return [] }
            return self.requestCapabilities(Self.wanted, isReduced: false)
        case ("ACK", .requesting):
            guard self.settings.authentication == .sasl else { return self.endNegotiation() }
            self.phase = .authenticating
            return [.send(IRCMessage("AUTHENTICATE", "PLAIN").bytes)]
        // The session works without the other capabilities.
        case ("NAK", .requesting(isReduced: false)): return self.requestCapabilities([], isReduced: true)
        case ("NAK", .requesting(isReduced: true)): return self.fail("the server refuses SASL")
        default: return []
        }
    }

    private mutating func requestCapabilities(_ wanted: [String], isReduced: Bool) -> [ChatAction] {
        var names = wanted.filter { self.offered[$0] != nil }
        if self.settings.authentication == .sasl {
            guard let mechanisms = self.offered["sasl"], mechanisms.isEmpty || Self.hasPlain(mechanisms) else {
                return self.fail("the server offers no SASL PLAIN")
            }
            names.append("sasl")
        }
        guard !names.isEmpty else { return self.endNegotiation() }
        self.phase = .requesting(isReduced: isReduced)
        return [.send(IRCMessage("CAP", "REQ", names.joined(separator: " ")).bytes)]
    }

    private static func hasPlain(_ mechanisms: String) -> Bool {
        mechanisms.split(separator: ",").contains { $0.uppercased() == "PLAIN" }
    }

    private mutating func endNegotiation() -> [ChatAction] {
        (self.phase, self.offered) = (.registering, [:])
        return [.send(IRCMessage("CAP", "END").bytes)]
    }

    private mutating func receivedAuthenticate(_ message: IRCMessage) -> [ChatAction] {
        guard self.phase == .authenticating, message.parameter(0) == "+" else { return [] }
        let response = SASLPlain.response(account: self.login.account, password: self.login.password)
        // The response is sent in chunks of 400 characters. A shorter or empty chunk is the last (IRCv3 SASL 3.1).
        var rest = response[...]
        var lines: [UInt8] = []
        while rest.count >= 400 {
            lines += IRCMessage("AUTHENTICATE", String(rest.prefix(400))).bytes
            rest = rest.dropFirst(400)
        }
        return [.send(lines + IRCMessage("AUTHENTICATE", rest.isEmpty ? "+" : String(rest)).bytes)]
    }
}

extension IRCSession {
    /// Returns whether a nick is that of this session, ignoring case as defined by RFC 1459.
    private func isOwn(_ nick: String) -> Bool { Self.folded(nick) == Self.folded(self.nick) }

    static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { byte in
            switch byte {
            // Letters, brackets, backslash and caret. The lower-case forms of the last four are braces, bar and tilde.
            case 0x41...0x5e: byte + 0x20
            default: byte
            }
        }
    }

    private mutating func receivedText(_ message: IRCMessage, at now: ClockReading) -> [ChatAction] {
        guard self.phase == .online, let sender = message.nick, let target = message.parameter(0),
            let text = message.parameter(1)
        else { return [] }
        let time = Self.time(message.tags["time"], now)
        // Bouncers replay earlier messages.
        guard time.map({ $0 >= self.seenBefore }) ?? true else { return [] }
        self.seenThrough = max(self.seenThrough, min(time ?? now.wall, now.wall))
        guard !self.isOwn(sender) else { return [.wroteElsewhere(conversation: target)] }
        guard !Self.isService(sender, message.command), let words = Self.words(text) else { return [] }
        let isDirect = self.isOwn(target)
        // At a bouncer, the nick may differ from the one in the settings.
        let names = [self.nickWord] + (self.nicksTried > 0 ? [self.settings.nickWord] : []) + self.settings.highlights
        return [
            .message(
                ChatMessage(
                    sender: sender,
                    conversation: isDirect ? sender : target,
                    isDirect: isDirect,
                    isHighlight: isDirect || IRCText.contains(anyOf: names, in: words),
                    text: words,
                    id: message.tags["msgid"],
                    at: time ?? now.wall
                )
            )
        ]
    }

    /// Parses a server's time stamp. Returns `nil` if it is absent, malformed or more than a day in the future.
    private static func time(_ text: String?, _ now: ClockReading) -> Timestamp? {
        guard let text, let time = Timestamp(rfc3339: text), time <= now.wall.advanced(by: .seconds(86_400)) else {
            return nil
        }
        return time
    }

    /// Returns whether a sender is not a user but a module of a bouncer or one of the network's services, whose notices
    /// arrive at each sign-in.
    private static func isService(_ sender: String, _ command: String) -> Bool {
        sender.hasPrefix("*") || command == "NOTICE" && sender.lowercased().hasSuffix("serv")
    }

    /// Returns the human-readable text of a message, or `nil` for a CTCP request, which is for programs.
    private static func words(_ text: String) -> String? {
        var text = Substring(text)
        if text.first == "\u{1}" {
            let action = "\u{1}ACTION "
            guard text.hasPrefix(action) else { return nil }
            text = "* " + text.dropFirst(action.count)
        }
        let words = IRCText.plain(String(text))
        return words.isEmpty ? nil : words
    }
}
