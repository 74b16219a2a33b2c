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

    private enum Phase: Hashable {
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
    private var login: ChatLogin
    let settings: IRCSettings
    private var phase = Phase.listing
    private var isProven = false
    private var offered: [String: String] = [:]
    /// The nick at the server.
    var nick: String
    private var nicksTried = 0
    private var seenThrough: Timestamp
    /// The time through which messages were dealt with before this connection.
    private let seenBefore: Timestamp
    private var pending: [UInt8] = []
    package private(set) var nextDeadline: Timestamp?

    package init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError) {
        self.settings = try IRCSettings(login)
        self.login = login
        self.nick = self.settings.nick
        (self.seenThrough, self.seenBefore) = (memory.seenThrough, memory.seenThrough)
    }

    package var serverName: String { self.login.host }
    package var isSecureFromStart: Bool { true }
    package var memory: ChatMemory { ChatMemory(seenThrough: self.seenThrough) }

    package mutating func opened(at now: ClockReading) -> [ChatAction] {
        self.nextDeadline = now.steady.advanced(by: Time.signIn)
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
        guard let nextDeadline, nextDeadline <= now.steady else { return [] }
        switch self.phase {
        case .online:
            self.phase = .asked
            self.nextDeadline = now.steady.advanced(by: Time.answer)
            var lines = [IRCMessage("PING", "martlet")]
            // The nick may have been held by a connection that is gone by now.
            if self.nicksTried > 0, !self.isOwn(self.settings.nick) {
                lines.append(IRCMessage("NICK", self.settings.nick))
            }
            return [.send(lines.flatMap(\.bytes))]
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
        (self.phase, self.nextDeadline, self.pending) = (.ended, nil, [])
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
            self.nextDeadline = now.steady.advanced(by: Time.silence)
        }
        switch message.command {
        case "PING": return [.send(IRCMessage("PONG", message.parameters.last ?? "").bytes)]
        case "ERROR":
            return self.fail("the server closed the connection: \(Self.quoted(message.parameters.last ?? ""))")
        case "CAP": return self.receivedCapabilities(message)
        case "AUTHENTICATE": return self.receivedAuthenticate(message)
        case "NICK":
            if let old = message.nick, self.isOwn(old), let new = message.parameter(0) { self.nick = new }
            return []
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
        case (_, .online), (_, .asked), (_, .ended): return []
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
        self.nextDeadline = now.steady.advanced(by: Time.silence)
        self.login.password = ""
        if let nick = message.parameter(0) { self.nick = nick }
        guard !self.settings.channels.isEmpty else { return [.signedIn] }
        return [.send(self.settings.channels.flatMap { IRCMessage("JOIN", $0).bytes }), .signedIn]
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

// MARK: Capabilities and SASL

extension IRCSession {
    /// The capabilities that are used where they are offered.
    private static let wanted = ["account-tag", "message-tags", "server-time", "znc.in/self-message"]
    /// The most capabilities of a server that are remembered.
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
            // An asterisk announces another line.
            if message.parameters.count > 3, message.parameter(2) == "*" { return [] }
            return self.requestCapabilities(Self.wanted, isReduced: false)
        case ("ACK", .requesting):
            guard self.settings.authentication == .sasl else { return self.endNegotiation() }
            self.phase = .authenticating
            return [.send(IRCMessage("AUTHENTICATE", "PLAIN").bytes)]
        // Without the others the session works too.
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
        // Pieces of 400 characters; one that is shorter, or empty, is the last (IRCv3 SASL 3.1).
        var rest = response[...]
        var lines: [UInt8] = []
        while rest.count >= 400 {
            lines += IRCMessage("AUTHENTICATE", String(rest.prefix(400))).bytes
            rest = rest.dropFirst(400)
        }
        return [.send(lines + IRCMessage("AUTHENTICATE", rest.isEmpty ? "+" : String(rest)).bytes)]
    }
}

// MARK: Messages

extension IRCSession {
    /// Returns `true` if a nick is that of this session. Cases differ as in RFC 1459.
    func isOwn(_ nick: String) -> Bool { Self.folded(nick) == Self.folded(self.nick) }

    private static func folded(_ nick: String) -> [UInt8] {
        nick.utf8.map { byte in
            switch byte {
            // Letters, and the brackets, the backslash and the caret, whose lower case are braces, the bar and the tilde.
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
        // Bouncers replay what was said before.
        guard time.map({ $0 >= self.seenBefore }) ?? true else { return [] }
        self.seenThrough = max(self.seenThrough, min(time ?? now.wall, now.wall))
        guard !self.isOwn(sender) else { return [.wroteElsewhere(conversation: target)] }
        guard !Self.isService(sender, message.command), let words = Self.words(text) else { return [] }
        let isDirect = self.isOwn(target)
        // A bouncer has a nick of its own.
        let names = [self.nick] + (self.nicksTried > 0 ? [self.settings.nick] : []) + self.settings.highlights
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

    /// Returns the time that a server tells, which is at most a day ahead of ours.
    private static func time(_ text: String?, _ now: ClockReading) -> Timestamp? {
        guard let text, let time = Timestamp(rfc3339: text), time <= now.wall.advanced(by: .seconds(86_400)) else {
            return nil
        }
        return time
    }

    /// Returns `true` for the modules of a bouncer, and for notices of a network's services, which speak at each sign-in.
    private static func isService(_ sender: String, _ command: String) -> Bool {
        sender.hasPrefix("*") || command == "NOTICE" && sender.lowercased().hasSuffix("serv")
    }

    /// Returns the text that people read; `nil` for a question of one program to another.
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
