package import NIOCore
import ProviderModel
package import PushSupport
package import PushTypes

/// A client of an XMPP server that signs in and receives messages (RFC 6120, 6121). It supports SASL over TLS only,
/// stream management with resumption, carbons of the user's other clients, and their presence.
///
/// It never reports itself as inactive (XEP-0352), because a server may then hold back presence. ejabberd does so even
/// when it delivers a message.
package struct XMPPSession: ChatSession {
    package static let port = 5222
    private static let securityMember = Member.choice("tls", of: Security.self)
    package static let settings = RequestObject(optional: [Self.securityMember])

    package static func host(of account: String) -> String? { try? XMPPAccount(account).domain }

    private enum Security: String, Hashable, Sendable, CaseIterable {
        /// Security by STARTTLS: TLS begins with a command in the XML stream.
        case start
        /// Security by direct TLS: TLS begins with the first byte.
        case direct
    }

    private enum Time {
        static let signIn: Duration = .seconds(60)
        /// The time without received bytes after which the client pings the server.
        static let silence: Duration = .seconds(120)
        /// The maximum time from the ping until the server sends anything, after which the session fails.
        static let answer: Duration = .seconds(60)
    }

    /// The maximum numbers of XML elements that a server may send before and after the sign-in.
    private enum Elements {
        /// The maximum number of elements before the session is signed in. A server that sends more fails the session.
        /// It suffices for some lists of features and the steps of the authentication.
        static let signIn = 1000
        /// The maximum number of elements in ``Elements/window`` after the sign-in. Further ones stay in the socket's
        /// receive buffer. They do not end the session, because they may be strangers' messages, which the next session
        /// would receive again.
        static let online = 20_000
        static let window: Duration = .seconds(10)
    }

    enum Phase: Hashable {
        /// The phase in which the client waits for the features of a stream.
        case features
        /// The phase in which the client waits for the server's permission to begin TLS.
        case startingTLS
        /// The phase of the TLS handshake. Unencrypted bytes that arrive are ignored.
        case securing
        case authenticating(SASLExchange)
        case resuming, binding, online
        /// The phase in which the client waits for the reply to a ping. Any element of the server ends the wait.
        case asked
        case ended
    }

    /// The ports on which TLS begins with the first byte: that of XMPP (XEP-0368), and that of HTTPS.
    private static let directPorts = [5223, 443]

    /// The login. Its password is removed once the session is signed in or has ended.
    private(set) var login: ChatLogin
    let account: XMPPAccount
    private let security: Security
    private var parser = XMPPStreamParser()
    /// The number of elements read in the current window, or during the whole sign-in, by which the limits in
    /// ``Elements`` are checked.
    private var elements = 0
    private var windowEnd: Timestamp?
    var phase = Phase.features
    var (isSecure, isAuthenticated) = (false, false)
    /// A Boolean value that indicates whether the server offers stream management (XEP-0198).
    var offersManagement = false
    /// The counters of the stream, or `nil` before a resource is bound or if the server does not support them.
    var management: StreamManagement?
    var isManaged = false
    var jid = ""
    var present: Set<String> = []
    private var seenThrough: Timestamp
    /// A Boolean value that indicates whether the server has proven with SCRAM that it knows the password
    /// (``ChatMemory/usesSCRAM``).
    var usesSCRAM: Bool
    /// The deadline of the current phase, or of the next ping, or `nil` while there is no connection.
    private var deadline: Timestamp?

    package init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError) {
        self.account = try XMPPAccount(login.account)
        let fields = try login.fields(Self.settings)
        let security = try fields.value(Self.securityMember)
        self.security = security ?? (Self.directPorts.contains(login.port) ? .direct : .start)
        self.login = login
        (self.seenThrough, self.usesSCRAM) = (memory.seenThrough, memory.usesSCRAM)
        self.management = memory.resumption
        self.present = memory.resumption?.present ?? []
    }

    package var serverName: String { self.account.domain }
    package var isSecureFromStart: Bool { self.security == .direct }
    package var nextDeadline: Timestamp? { [self.deadline, self.pausedUntil].compactMap(\.self).min() }
    package var pausedUntil: Timestamp? { self.elements > Elements.online ? self.windowEnd : nil }

    package var memory: ChatMemory {
        var resumption = self.management?.id == nil ? nil : self.management
        resumption?.present = self.present
        return ChatMemory(seenThrough: self.seenThrough, resumption: resumption, usesSCRAM: self.usesSCRAM)
    }

    package mutating func opened(at now: ClockReading) -> [ChatAction] {
        self.deadline = now.steady.advanced(by: Time.signIn)
        self.isSecure = self.isSecureFromStart
        return self.openStream()
    }

    package mutating func secured(at now: ClockReading) -> [ChatAction] {
        guard self.phase == .securing else { return [] }
        self.isSecure = true
        return self.openStream()
    }

    /// Opens a new XML stream. Bytes that were received before are discarded.
    mutating func openStream() -> [ChatAction] {
        self.parser = XMPPStreamParser()
        self.phase = .features
        var attributes = ["to": self.account.domain, "version": "1.0", "xml:lang": "en"]
        // The user's address is sent only over TLS (RFC 6120 section 4.7.1).
        if self.isSecure { attributes["from"] = self.account.bare }
        return [.send(text: XMPPStream.opening(content: XMPPNamespaces.client, attributes: attributes))]
    }

    package mutating func timePassed(at now: ClockReading) -> [ChatAction] {
        if let windowEnd, windowEnd <= now.steady { (self.windowEnd, self.elements) = (nil, 0) }
        guard let deadline, deadline <= now.steady else { return [] }
        switch self.phase {
        case .online:
            self.phase = .asked
            self.deadline = now.steady.advanced(by: Time.answer)
            guard self.management == nil else { return [.send(text: Self.request)] }
            let ping = XMLElement("ping", namespace: XMPPNamespaces.ping)
            return self.send(Self.iq("get", id: "ping", children: [ping]))
        case .asked: return self.fail("the server gave no sign of life for \(Time.answer.components.seconds) s")
        case .ended: return []
        case .features, .startingTLS, .securing, .authenticating, .resuming, .binding:
            return self.fail("the sign-in took more than \(Time.signIn.components.seconds) s")
        }
    }

    package mutating func leave() -> [UInt8] {
        defer { self.end() }
        switch self.phase {
        case .online, .asked:
            // The server then keeps messages for later, and does not wait for the stream to be resumed.
            self.management?.id = nil
            return Array("<presence type='unavailable'/>\(XMPPStream.closing)".utf8)
        case .features, .startingTLS, .securing, .authenticating, .resuming, .binding:
            return Array(XMPPStream.closing.utf8)
        case .ended: return []
        }
    }

    private mutating func end() {
        (self.phase, self.deadline, self.parser) = (.ended, nil, XMPPStreamParser())
        self.login.password = ""
    }

    mutating func fail(_ reason: String, isFinal: Bool = false) -> [ChatAction] {
        self.end()
        return [.failed(ChatFailure(reason, isFinal: isFinal))]
    }

    mutating func goOnline(at now: ClockReading) {
        self.phase = .online
        self.parser.truncates = true
        self.deadline = now.steady.advanced(by: Time.silence)
        if !self.login.password.isEmpty { self.login.password = "" }
    }
}

// MARK: Receiving

extension XMPPSession {
    package mutating func received(_ bytes: ByteBuffer, at now: ClockReading) -> [ChatAction] {
        guard self.phase != .ended, self.phase != .securing else { return [] }
        var actions: [ChatAction] = []
        do throws(XMPPStreamError) {
            try self.parser.receive(bytes.readableBytesView)
            while self.phase != .ended, self.phase != .securing {
                let read = self.parser.elementsRead
                let event = try self.parser.next()
                guard self.count(self.parser.elementsRead - read, at: now) else {
                    return actions + self.fail("the server sends more elements than it may")
                }
                guard let event else { break }
                actions += self.received(event, at: now)
            }
        } catch {
            // On a resumed stream, the server would send the same bytes again.
            if self.phase == .online || self.phase == .asked { self.management = nil }
            actions += self.fail("the server's stream cannot be read: \(error)")
        }
        return actions
    }

    /// Adds to the number of elements that were read. Returns `false` if too many were read before the sign-in.
    private mutating func count(_ elements: Int, at now: ClockReading) -> Bool {
        self.elements += elements
        switch self.phase {
        case .features, .startingTLS, .securing, .authenticating, .resuming, .binding:
            return self.elements <= Elements.signIn
        case .online, .asked, .ended:
            if self.windowEnd.map({ $0 <= now.steady }) ?? true {
                (self.windowEnd, self.elements) = (now.steady.advanced(by: Elements.window), elements)
            }
            return true
        }
    }

    private mutating func received(_ event: XMPPStreamEvent, at now: ClockReading) -> [ChatAction] {
        switch event {
        case .streamStart(let header):
            guard header["xmlns"] == XMPPNamespaces.client, header["version"] == "1.0" else {
                return self.fail("the server does not speak XMPP 1.0")
            }
            return []
        case .streamEnd: return self.fail("the server closed the stream")
        case .stanza(let element):
            if let error = XMPPStreamError(element) {
                // Without TLS the error may be forged.
                let isFinal = self.isSecure && [.hostUnknown, .hostGone].contains(error.condition)
                return self.fail("the server closed the stream: \(error.condition.rawValue)", isFinal: isFinal)
            }
            return self.received(element, at: now)
        }
    }

    private mutating func received(_ element: XMLElement, at now: ClockReading) -> [ChatAction] {
        switch self.phase {
        case .features, .startingTLS, .securing, .authenticating, .resuming, .binding:
            return self.receivedBeforeSignIn(element, at: now)
        case .online, .asked:
            self.goOnline(at: now)
            return self.receivedOnline(element, at: now)
        case .ended: return []
        }
    }
}

// MARK: Sending

extension XMPPSession {
    static let request = "<r xmlns='\(XMPPNamespaces.management)'/>"

    /// Sends a stanza, and keeps it until it is acknowledged. Fails the session if too many are unacknowledged.
    mutating func send(_ stanza: XMLElement) -> [ChatAction] {
        let text = stanza.xml(in: XMPPNamespaces.client)
        guard self.management?.keep(text) ?? true else { return self.fail("the server acknowledges nothing") }
        // The client requests one acknowledgement for several stanzas, so that few stanzas are kept.
        let wantsAnswer = self.management.map { $0.waiting.count % 16 == 15 } ?? false
        return [.send(text: wantsAnswer ? text + Self.request : text)]
    }

    static func iq(_ type: String, id: String, to address: String? = nil, children: [XMLElement] = []) -> XMLElement {
        var iq = XMLElement(
            "iq",
            namespace: XMPPNamespaces.client,
            attributes: ["type": type, "id": id],
            children: children
        )
        iq["to"] = address
        return iq
    }
}

extension XMPPSession {
    /// The maximum number of the user's other clients whose presence is remembered. Further ones are ignored.
    private static let maximumPresent = 32

    private mutating func receivedOnline(_ element: XMLElement, at now: ClockReading) -> [ChatAction] {
        switch (element.name, element.namespace) {
        case (let name, XMPPNamespaces.management): return self.receivedManagement(name, element)
        case ("message", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedMessage(element, at: now)
        case ("presence", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedPresence(element)
        case ("iq", XMPPNamespaces.client):
            self.countReceived()
            return self.receivedQuery(element)
        default: return []
        }
    }

    private mutating func countReceived() {
        if self.isManaged { self.management?.countReceived() }
    }

    private mutating func receivedManagement(_ name: String, _ element: XMLElement) -> [ChatAction] {
        switch name {
        case "enabled":
            self.isManaged = true
            let isResumable = ["true", "1"].contains(element["resume"] ?? "")
            self.management?.id = isResumable ? element["id"].flatMap { $0.utf8.count <= 4096 ? $0 : nil } : nil
            return [.send(text: Self.request)]
        // The stream has no counters.
        case "failed":
            self.management = nil
            return []
        case "r":
            guard let management else { return [] }
            return [.send(text: "<a xmlns='\(XMPPNamespaces.management)' h='\(management.received)'/>")]
        case "a":
            guard self.management != nil else { return [] }
            guard let count = element["h"].flatMap({ UInt32($0) }), self.management?.acknowledge(count) ?? false else {
                return self.fail("the server acknowledges stanzas that were never sent")
            }
            return []
        default: return []
        }
    }

    // MARK: Presence

    /// Handles a presence stanza, which may show whether the user is present at another client.
    private mutating func receivedPresence(_ presence: XMLElement) -> [ChatAction] {
        guard let sender = presence["from"], self.account.owns(sender), sender != self.jid, sender.contains("/"),
            sender.utf8.count <= 3071
        else { return [] }
        let wasAttached = !self.present.isEmpty
        if Self.isPresent(presence) {
            if self.present.count < Self.maximumPresent { self.present.insert(sender) }
        } else {
            self.present.remove(sender)
        }
        let isAttached = !self.present.isEmpty
        return isAttached == wasAttached ? [] : [.attached(isAttached)]
    }

    /// Returns whether a presence stanza shows a client at which the user is present and that receives messages. A
    /// client that receives none has a negative priority.
    private static func isPresent(_ presence: XMLElement) -> Bool {
        guard presence["type"] == nil else { return false }
        let show = presence.child("show", XMPPNamespaces.client)?.text ?? ""
        let priority = presence.child("priority", XMPPNamespaces.client).flatMap { Int($0.text) } ?? 0
        return !["away", "xa"].contains(show) && priority >= 0
    }

    // MARK: Queries

    /// Replies to a query: to a ping with a result, to any other with an error (RFC 6120 section 8.2.3).
    ///
    /// Anyone may send queries. While too many replies are unacknowledged, further queries receive no reply.
    private mutating func receivedQuery(_ iq: XMLElement) -> [ChatAction] {
        guard self.management?.takesAnswers ?? true else { return [] }
        guard ["get", "set"].contains(iq["type"] ?? ""), let id = iq["id"], id.utf8.count <= 1024 else { return [] }
        let sender = iq["from"].flatMap { $0.utf8.count <= 3071 ? $0 : nil }
        if iq["type"] == "get", iq.child("ping", XMPPNamespaces.ping) != nil {
            return self.send(Self.iq("result", id: id, to: sender))
        }
        let condition = XMLElement("service-unavailable", namespace: XMPPNamespaces.stanzaErrors)
        let error = XMLElement(
            "error",
            namespace: XMPPNamespaces.client,
            attributes: ["type": "cancel"],
            children: [condition]
        )
        return self.send(Self.iq("error", id: id, to: sender, children: [error]))
    }

    // MARK: Messages

    private mutating func receivedMessage(_ message: XMLElement, at now: ClockReading) -> [ChatAction] {
        // A message without a sender is from the account itself (RFC 6120 section 8.1.2.1). Carbons from any other
        // sender are forged.
        let isOwn = message["from"].map(self.account.owns) ?? true
        if isOwn, let carbon = message.children.first(where: { $0.namespace == XMPPNamespaces.carbons }) {
            guard let inner = carbon.child("forwarded", XMPPNamespaces.forward)?.child("message", XMPPNamespaces.client)
            else { return [] }
            switch carbon.name {
            case "received": return self.messages(inner, outer: message, at: now)
            case "sent":
                guard let receiver = inner["to"], Self.hasText(inner) else { return [] }
                return [.wroteElsewhere(conversation: XMPPAccount.bare(receiver))]
            default: return []
            }
        }
        return self.messages(message, outer: message, at: now)
    }

    private static func isEncrypted(_ message: XMLElement) -> Bool {
        message.children.contains { XMPPNamespaces.encrypted.contains($0.namespace) }
    }

    private static func hasText(_ message: XMLElement) -> Bool {
        !(message.child("body", XMPPNamespaces.client)?.text ?? "").isEmpty || self.isEncrypted(message)
    }

    private mutating func messages(_ message: XMLElement, outer: XMLElement, at now: ClockReading) -> [ChatAction] {
        guard ["chat", "normal"].contains(message["type"] ?? "normal"), let from = message["from"],
            Self.hasText(message),
            !self.account.owns(from)
        else { return [] }
        let sender = XMPPAccount.bare(from)
        guard !sender.isEmpty else { return [] }
        let stamp = [message, outer].lazy.compactMap { $0.child("delay", XMPPNamespaces.delay)?["stamp"] }.first
        let time = min(stamp.flatMap { Timestamp(rfc3339: $0) } ?? now.wall, now.wall)
        self.seenThrough = max(self.seenThrough, time)
        return [
            .message(
                ChatMessage(
                    sender: sender,
                    conversation: sender,
                    isDirect: true,
                    text: Self.isEncrypted(message) ? nil : message.child("body", XMPPNamespaces.client)?.text,
                    id: self.id(of: message, at: time),
                    at: time
                )
            )
        ]
    }

    /// Returns the id by which a repeated message is recognized, or `nil` if the message has none.
    ///
    /// Only ids that the account's server assigned are unique. A sender may reuse an id, so it is combined with the
    /// hour and the text. A message that is repeated with a time stamp after a lost connection has the same id.
    private func id(of message: XMLElement, at time: Timestamp) -> String? {
        let given = message.children("stanza-id", XMPPNamespaces.stanzaID).first { self.account.owns($0["by"] ?? "") }
        if let id = given?["id"] { return id }
        guard let id = message["id"] else { return nil }
        let said = message.children.filter {
            $0.has("body", XMPPNamespaces.client) || XMPPNamespaces.encrypted.contains($0.namespace)
        }
        return ([id, "\(time.seconds / 3600)"] + said.flatMap(Self.texts)).joined(separator: "\0")
    }

    /// Returns the text of an element and of all its descendants. The parser limits their depth.
    private static func texts(of element: XMLElement) -> [String] {
        [element.text] + element.children.flatMap(self.texts)
    }
}

/// The account of a session at an XMPP server: a bare JID (RFC 7622).
struct XMPPAccount: Hashable, Sendable {
    /// The maximum length of an address, in bytes. A longer one is treated as that of another account.
    private static let maximumAddress = 3071

    let name: String
    let domain: String
    private let folded: String

    /// Parses a bare JID. Throws ``RequestError`` that names the member `account`.
    init(_ text: String) throws(RequestError) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && scalar.value != 0x7f && !"/\"&'<>:".unicodeScalars.contains(scalar)
        }
        guard parts.count == 2, isPlain, (1...1023).contains(parts[0].utf8.count),
            (1...253).contains(parts[1].utf8.count)
        else {
            let message = "write the address as name@domain, without resource"
            throw RequestError(.invalid, code: "invalid_value", message: message, path: "account")
        }
        (self.name, self.domain, self.folded) = (String(parts[0]), parts[1].lowercased(), text.lowercased())
    }

    var bare: String { "\(self.name)@\(self.domain)" }

    /// Returns whether an address is that of the account, with or without a resource.
    func owns(_ address: String) -> Bool {
        address.utf8.count <= Self.maximumAddress && Self.bare(address).lowercased() == self.folded
    }

    /// Returns the bare form of an address, which has no resource.
    static func bare(_ address: String) -> String { String(address.prefix { $0 != "/" }) }
}
