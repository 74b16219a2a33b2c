package import NIOCore
import PushStore
package import PushSupport
package import PushTypes

/// A client of an XMPP server, which signs in and listens (RFC 6120, 6121): SASL over TLS only, stream management with
/// resumption, carbons of the user's other clients, and their presence.
///
/// It never says that nobody looks (XEP-0352): a server may hold back presence then, and ejabberd does so even when it delivers
/// a message.
package struct XMPPSession: ChatSession {
    package static let port = 5222
    package static let members: Set<String> = ["tls"]

    package static func host(of account: String) -> String? { try? XMPPAccount(account).domain }

    /// The beginning of TLS.
    private enum Security: String, Hashable, Sendable, CaseIterable {
        /// A command in the stream.
        case start
        /// The first byte.
        case direct
    }

    /// The deadlines, in steady time.
    private enum Time {
        static let signIn: Duration = .seconds(60)
        /// The silence after which the server is asked for a sign of life.
        static let silence: Duration = .seconds(120)
        /// The time that it has for that.
        static let answer: Duration = .seconds(60)
    }

    /// The maximum numbers of elements that a server sends.
    private enum Elements {
        /// Until the session is signed in: some lists of features and the steps of the authentication.
        static let signIn = 1000
        /// In ``Elements/window`` after that: what comes beyond waits in the connection. The messages of strangers are among it, so that
        /// it is no reason to end the session, whose next one would get them again.
        static let online = 20_000
        static let window: Duration = .seconds(10)
    }

    enum Phase: Hashable {
        /// The features of a stream are awaited.
        case features
        /// The permission to begin TLS is awaited.
        case startingTLS
        /// TLS begins. Bytes without it mean nothing any more.
        case securing
        case authenticating(SASLExchange)
        case resuming, binding, online
        /// A sign of life is awaited.
        case asked
        case ended
    }

    /// The ports of TLS from the first byte: that of XMPP (XEP-0368), and that of the web.
    private static let directPorts = [5223, 443]

    /// The account, without its password once the session is signed in or has ended.
    private(set) var login: ChatLogin
    let account: XMPPAccount
    private let security: Security
    private var parser = XMPPStreamParser()
    /// The elements of this window, or of the whole sign-in.
    private var elements = 0
    private var windowEnd: Timestamp?
    var phase = Phase.features
    var (isSecure, isAuthenticated) = (false, false)
    /// Indicates whether the server can count stanzas (XEP-0198).
    var offersManagement = false
    /// The counters of the stream; `nil` before a resource is bound, and if the server does not count.
    var management: StreamManagement?
    /// Indicates whether the server has agreed to count.
    var isManaged = false
    /// The full JID of this client.
    var jid = ""
    /// The user's other clients at which they are present.
    var present: Set<String> = []
    var seenThrough: Timestamp
    /// See ``ChatMemory/usesSCRAM``.
    var usesSCRAM: Bool
    /// The end of the present phase, or of the silence.
    private var deadline: Timestamp?

    package init(_ login: ChatLogin, memory: ChatMemory) throws(RequestError) {
        self.account = try XMPPAccount(login.account)
        let fields = try login.fields(Self.members)
        self.security = try fields.choice("tls") ?? (Self.directPorts.contains(login.port) ? .direct : .start)
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

    /// Opens a stream anew. What was received before is not part of it.
    mutating func openStream() -> [ChatAction] {
        self.parser = XMPPStreamParser()
        self.phase = .features
        var attributes = ["to": self.account.domain, "version": "1.0", "xml:lang": "en"]
        // The user's name travels encrypted only (RFC 6120 section 4.7.1).
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
            // The server keeps the messages for later, and does not wait for a resumption.
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

    /// The session is signed in.
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
            // A stream that is resumed would bring the same bytes again.
            if self.phase == .online || self.phase == .asked { self.management = nil }
            actions += self.fail("the server's stream cannot be read: \(error)")
        }
        return actions
    }

    /// Counts elements that were read.
    /// - Returns: `false` for too many of a server that has not accepted the account yet.
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
                // Without TLS anybody on the way can say so.
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
    /// The request for an acknowledgement.
    static let request = "<r xmlns='\(XMPPNamespaces.management)'/>"

    /// Sends a stanza, and remembers it until it is acknowledged.
    mutating func send(_ stanza: XMLElement) -> [ChatAction] {
        let text = stanza.xml(in: XMPPNamespaces.client)
        guard self.management?.keep(text) ?? true else { return self.fail("the server acknowledges nothing") }
        // Some at a time, so that few are kept.
        let wantsAnswer = self.management.map { $0.waiting.count % 16 == 15 } ?? false
        return [.send(text: wantsAnswer ? text + Self.request : text)]
    }

    static func iq(
        _ type: String,
        id: String,
        to address: String? = nil,
        children: [XMLElement] = []
    ) -> XMLElement {
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
