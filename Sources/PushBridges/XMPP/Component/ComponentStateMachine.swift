import Crypto
import Foundation
import NIOCore
import PushTypes

/// An action that the state machine of a component's link requests from its handler.
enum ComponentAction: Hashable, Sendable {
    case write(String)
    /// Reports that the server has accepted the component.
    case established
    /// Passes on a request to which the service replies.
    case request(ComponentRequest)
    /// Closes the connection because of a failure, or with `nil` because the component leaves. No actions follow.
    case close(ComponentFailure?)
}

/// The reason why the link of a component to its server ended.
enum ComponentFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The failure if the server did not accept the component in time.
    case notAccepted
    /// The failure if the server has been silent for too long.
    case silent
    /// The failure if the server has sent a malformed stream.
    case malformed(XMPPStreamError)
    /// The failure if the server has ended the stream with an error.
    case refused(XMPPStreamError.Condition)
    /// The failure if the server has ended the stream without an error.
    case ended
    /// The failure if the server's name resolves to no address that the component's settings allow.
    case notPublic

    var description: String {
        switch self {
        case .notAccepted: "the server does not answer"
        case .silent: "the server is silent"
        case .malformed(let error): "the server's stream cannot be used: \(error)"
        case .refused(let condition): "the server ended the stream: \(condition.rawValue)"
        case .ended: "the server ended the stream"
        case .notPublic: "the server's name resolves to private or reserved addresses only"
        }
    }
}

/// The component's side of a link to a server (XEP-0114), as a state machine without I/O.
///
/// It opens the stream, proves knowledge of the secret, replies to simple queries itself, and passes on publishes and
/// registrations.
struct ComponentStateMachine {
    /// The maximum time from the opening of the connection until the server accepts the component. Then the link fails.
    static let acceptance = TimeAmount.seconds(15)
    /// The interval at which whitespace is written, so that routers keep the connection.
    static let keepAlive = TimeAmount.seconds(60)
    /// The time without received bytes after which the component pings itself through the server to check the link.
    static let silence = TimeAmount.seconds(120)
    /// The maximum time from a ping of the component to itself until any bytes are received, after which the link
    /// fails.
    static let probe = TimeAmount.seconds(30)
    /// The maximum time for which a leaving component waits for the last replies before it closes the stream.
    static let leaving = TimeAmount.seconds(10)
    /// The maximum number of requests in flight. A further one receives the error `resource-constraint`.
    ///
    /// Each domain may have at most as many requests in flight as are still free (a dynamic threshold). A single domain
    /// thus gets at most half of the maximum, and a few busy domains leave room for others.
    static let maximumInFlight = 2000
    /// The maximum number of elements that are read in a second. Further elements stay in the socket's receive buffer.
    static let elementsPerSecond = 20_000

    private enum Phase {
        case idle
        case opening
        /// The phase in which the proof of the secret has been sent, and the server's reply is awaited.
        case proving
        case open
        /// The phase in which the component accepts no requests, and has waited for the last replies since this time.
        case leaving(since: NIODeadline)
        case closed
    }

    let domain: String
    private let secret: String
    private let disco: ComponentDisco
    private var phase = Phase.idle
    private var parser = XMPPStreamParser()
    private var openedAt = NIODeadline.uptimeNanoseconds(0)
    private var readAt = NIODeadline.uptimeNanoseconds(0)
    private var writtenAt = NIODeadline.uptimeNanoseconds(0)
    private var probedAt: NIODeadline?
    private var probes = 0
    /// The start of the current second, and the total number of elements at that time, by which their rate is limited.
    private var counted = (since: NIODeadline.uptimeNanoseconds(0), elements: 0)
    private var inFlight = 0
    private var inFlightByDomain: [String: Int] = [:]

    /// Creates the state machine of a component whose clients may register themselves in `dialects`.
    init(domain: String, secret: String, dialects: Set<RegistrationDialect> = []) {
        (self.domain, self.secret) = (domain.lowercased(), secret)
        self.disco = ComponentDisco(domain: domain.lowercased(), dialects: dialects)
    }

    // MARK: Events

    mutating func connected(now: NIODeadline) -> [ComponentAction] {
        guard case .idle = self.phase else { return [] }
        self.phase = .opening
        (self.openedAt, self.readAt) = (now, now)
        let opening = XMPPStream.opening(content: ComponentNamespace.accept, attributes: ["to": self.domain])
        return [self.write(opening, now)]
    }

    mutating func received(_ bytes: some Collection<UInt8>, now: NIODeadline) -> [ComponentAction] {
        guard self.isConnected else { return [] }
        (self.readAt, self.probedAt) = (now, nil)
        var actions: [ComponentAction] = []
        do {
            try self.parser.receive(bytes)
            while self.isConnected, let event = try self.parser.next() {
                actions += try self.handle(event, now)
            }
        } catch {
            let ending = error.element.xml(in: ComponentNamespace.accept) + XMPPStream.closing
            actions += [self.write(ending, now), self.close(.malformed(error))]
        }
        return actions
    }

    /// Returns whether the server's bytes may be read now. If not, they may be read at ``deadline``.
    mutating func mayRead(now: NIODeadline) -> Bool {
        self.countAnew(now)
        return !self.isPaused
    }

    private mutating func countAnew(_ now: NIODeadline) {
        if now >= self.counted.since + .seconds(1) { self.counted = (now, self.parser.elementsRead) }
    }

    private var isPaused: Bool { self.parser.elementsRead - self.counted.elements >= Self.elementsPerSecond }

    mutating func answered(_ response: ComponentResponse, now: NIODeadline) -> [ComponentAction] {
        self.giveBack(response.stanza)
        guard self.isConnected else { return [] }
        let answer = self.respond(response.stanza, response.answer, now)
        guard case .leaving = self.phase, self.inFlight == 0 else { return [answer] }
        return [answer] + self.left(now)
    }

    /// Closes the link if a time limit has passed, pings the component through the server, or writes whitespace, as is
    /// due at ``deadline``.
    mutating func timePassed(now: NIODeadline) -> [ComponentAction] {
        self.countAnew(now)
        switch self.phase {
        case .idle, .closed: return []
        case .opening, .proving:
            guard now >= self.openedAt + Self.acceptance else { return [] }
            return [self.write(XMPPStream.closing, now), self.close(.notAccepted)]
        case .open:
            if let probedAt {
                guard now < probedAt + Self.probe else { return [self.close(.silent)] }
            } else if now >= self.readAt + Self.silence {
                self.probedAt = now
                return [self.write(self.nextProbe(), now)]
            }
            return now >= self.writtenAt + Self.keepAlive ? [self.write(" ", now)] : []
        case .leaving(let since): return now >= since + Self.leaving ? self.left(now) : []
        }
    }

    /// The time at which ``timePassed(now:)`` must be called next, or `nil` if no deadline is pending.
    var deadline: NIODeadline? {
        let deadline: NIODeadline
        switch self.phase {
        case .idle, .closed: return nil
        case .opening, .proving: deadline = self.openedAt + Self.acceptance
        case .open:
            let heard = self.probedAt.map { $0 + Self.probe } ?? (self.readAt + Self.silence)
            deadline = min(self.writtenAt + Self.keepAlive, heard)
        case .leaving(let since): deadline = since + Self.leaving
        }
        return self.isPaused ? min(deadline, self.counted.since + .seconds(1)) : deadline
    }

    /// Begins to leave the server. The stream is closed once all requests have replies, or after the time ``leaving``.
    mutating func leave(now: NIODeadline) -> [ComponentAction] {
        switch self.phase {
        case .closed, .leaving: return []
        case .open where self.inFlight > 0:
            self.phase = .leaving(since: now)
            return []
        case .idle, .opening, .proving, .open: return self.left(now)
        }
    }

    // MARK: Parts

    private var isConnected: Bool {
        switch self.phase {
        case .idle, .closed: false
        case .opening, .proving, .open, .leaving: true
        }
    }

    /// Counts a request of a domain. Returns `false` if the domain has too many in flight.
    private mutating func take(of domain: String) -> Bool {
        let count = self.inFlightByDomain[domain, default: 0]
        guard count < Self.maximumInFlight - self.inFlight else { return false }
        self.inFlight += 1
        self.inFlightByDomain[domain] = count + 1
        return true
    }

    private mutating func giveBack(_ request: RequestStanza) {
        guard let domain = JabberAddress(request.from)?.domain, let count = self.inFlightByDomain[domain] else {
            return
        }
        self.inFlight -= 1
        self.inFlightByDomain[domain] = count > 1 ? count - 1 : nil
    }

    private mutating func left(_ now: NIODeadline) -> [ComponentAction] {
        [self.write(XMPPStream.closing, now), self.close(nil)]
    }

    private mutating func write(_ text: String, _ now: NIODeadline) -> ComponentAction {
        self.writtenAt = now
        return .write(text)
    }

    private mutating func close(_ failure: ComponentFailure?) -> ComponentAction {
        self.phase = .closed
        return .close(failure)
    }

    private mutating func respond(_ stanza: RequestStanza, _ answer: StanzaResponse, _ now: NIODeadline)
        -> ComponentAction
    {
        self.write(stanza.response(answer).xml(in: ComponentNamespace.accept), now)
    }

    private mutating func nextProbe() -> String {
        self.probes += 1
        let ping = XMLElement("ping", namespace: XMPPNamespaces.ping)
        var stanza = XMLElement("iq", namespace: ComponentNamespace.accept, children: [ping])
        stanza.attributes = ["type": "get", "id": "probe-\(self.probes)", "from": self.domain, "to": self.domain]
        return stanza.xml(in: ComponentNamespace.accept)
    }
}

// MARK: - Stanzas

extension ComponentStateMachine {
    private mutating func handle(
        _ event: XMPPStreamEvent,
        _ now: NIODeadline
    ) throws(XMPPStreamError) -> [ComponentAction] {
        switch event {
        case .streamStart(let header):
            guard header["xmlns"] == ComponentNamespace.accept else {
                throw XMPPStreamError(.invalidNamespace, "the stream is none for components")
            }
            // A server that refuses the component may send no id. Its error follows.
            guard let id = header["id"], !id.isEmpty else { return [] }
            self.phase = .proving
            let proof = ComponentHandshake.proof(stream: id, secret: self.secret)
            return [self.write("<handshake>\(proof)</handshake>", now)]
        case .streamEnd: return [self.write(XMPPStream.closing, now), self.close(.ended)]
        case .stanza(let stanza):
            if let error = XMPPStreamError(stanza) {
                return [self.write(XMPPStream.closing, now), self.close(.refused(error.condition))]
            }
            switch self.phase {
            case .open, .leaving: return stanza.has("iq", ComponentNamespace.accept) ? self.iq(stanza, now) : []
            case .idle, .opening, .proving, .closed: return try self.accepted(stanza)
            }
        }
    }

    /// Handles the server's reply to the proof of the secret. Throws an error for any other element.
    private mutating func accepted(_ stanza: XMLElement) throws(XMPPStreamError) -> [ComponentAction] {
        guard case .proving = self.phase, stanza.has("handshake", ComponentNamespace.accept) else {
            throw XMPPStreamError(.unsupportedStanzaType, "it has stanzas before the component is accepted")
        }
        self.phase = .open
        self.parser.truncates = true
        return [.established]
    }

    private mutating func iq(_ stanza: XMLElement, _ now: NIODeadline) -> [ComponentAction] {
        // Responses belong to the component's own pings. They show that the link works.
        guard let type = stanza["type"], type == "get" || type == "set", let id = stanza["id"],
            let from = stanza["from"],
            let sender = JabberAddress(from)
        else { return [] }
        let to = stanza["to"] ?? self.domain
        // A server ends the stream if a component replies for another domain.
        guard let receiver = JabberAddress(to), receiver.domain == self.domain else { return [] }
        let request = RequestStanza(id: id, from: from, to: to)
        guard receiver.local == nil, let element = stanza.children.first, stanza.children.count == 1
        else { return [self.respond(request, .error(.serviceUnavailable), now)] }
        switch self.reading(of: element, isSet: type == "set") {
        case .answer(let answer): return [self.respond(request, answer, now)]
        case .request(let kind):
            guard case .open = self.phase, self.take(of: sender.domain) else {
                return [self.respond(request, .error(.resourceConstraint), now)]
            }
            return [.request(ComponentRequest(stanza: request, kind: kind, from: sender))]
        }
    }

    private enum Reading {
        case answer(StanzaResponse)
        case request(ComponentRequest.Kind)
    }

    private func reading(of element: XMLElement, isSet: Bool) -> Reading {
        switch (element.name, element.namespace) {
        case ("ping", XMPPNamespaces.ping) where !isSet: return .answer(.result(nil))
        case ("query", ComponentNamespace.discoInfo) where !isSet:
            return .answer(self.disco.info(node: element["node"]))
        case ("query", ComponentNamespace.discoItems) where !isSet:
            return .answer(self.disco.items(node: element["node"]))
        case ("pubsub", ComponentNamespace.pubsub) where isSet:
            switch PushPublish.read(element) {
            case .publish(let publish): return .request(.publish(publish))
            case .error(let error): return .answer(.error(error))
            }
        case ("pubsub", ComponentNamespace.pubsub): return .answer(.error(.featureNotImplemented))
        case ("command", ComponentNamespace.commands) where isSet && !self.disco.dialects.isEmpty:
            switch RegistrationCommand.read(element, self.disco.dialects) {
            case .command(let command): return .request(.command(command))
            case .answer(let answer): return .answer(answer)
            }
        default: return .answer(.error(.serviceUnavailable))
        }
    }
}

/// The proof of the component's secret (XEP-0114 §3).
enum ComponentHandshake {
    /// Returns the hexadecimal digest that proves knowledge of the secret for a stream.
    /// - Parameter stream: The id that the server has given to the stream.
    static func proof(stream: String, secret: String) -> String {
        Hexadecimal.encode(Insecure.SHA1.hash(data: Data((stream + secret).utf8)))
    }
}
