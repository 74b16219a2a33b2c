import Foundation
package import PushSupport

/// The sign-in, from the features of the first stream to the bound resource (RFC 6120 sections 5 to 7).
extension XMPPSession {
    mutating func receivedBeforeSignIn(_ element: XMLElement, at now: ClockReading) -> [ChatAction] {
        switch (self.phase, element.name, element.namespace) {
        case (.features, "features", XMPPStream.namespace): self.receivedFeatures(element)
        case (.startingTLS, "proceed", XMPPNamespaces.tls): self.startTLS()
        case (.startingTLS, "failure", XMPPNamespaces.tls): self.fail("the server cannot begin TLS")
        case (.authenticating(let exchange), _, XMPPNamespaces.sasl): self.receivedSASL(element, exchange)
        case (.resuming, "resumed", XMPPNamespaces.management): self.resumed(element, at: now)
        case (.resuming, "failed", XMPPNamespaces.management): self.bind()
        case (.binding, "iq", XMPPNamespaces.client): self.receivedBinding(element, at: now)
        case (.features, _, _), (.startingTLS, _, _), (.authenticating, _, _):
            self.fail("the server sent <\(element.name.prefix(64))> before the sign-in")
        default: []
        }
    }

    private mutating func receivedFeatures(_ features: XMLElement) -> [ChatAction] {
        guard self.isSecure else {
            guard features.child("starttls", XMPPNamespaces.tls) != nil else {
                return self.fail("the server offers no TLS")
            }
            self.phase = .startingTLS
            return [.send(text: "<starttls xmlns='\(XMPPNamespaces.tls)'/>")]
        }
        guard self.isAuthenticated else { return self.authenticate(features) }
        self.offersManagement = features.child("sm", XMPPNamespaces.management) != nil
        if self.offersManagement, let management, let id = management.id {
            self.phase = .resuming
            let resume = XMLElement(
                "resume",
                namespace: XMPPNamespaces.management,
                attributes: ["previd": id, "h": "\(management.received)"]
            )
            return [.send(text: resume.xml())]
        }
        return self.bind()
    }

    private mutating func startTLS() -> [ChatAction] {
        self.phase = .securing
        return [.startTLS]
    }

    // MARK: SASL

    private mutating func authenticate(_ features: XMLElement) -> [ChatAction] {
        let offered =
            features.child("mechanisms", XMPPNamespaces.sasl)?.children("mechanism", XMPPNamespaces.sasl) ?? []
        let names = Set(offered.map(\.text))
        let (name, password) = (self.account.name, self.login.password)
        for mechanism in [SCRAMClient.Mechanism.sha256, .sha1] where names.contains(mechanism.rawValue) {
            let scram = SCRAMClient(mechanism, account: name, password: password, nonce: SCRAMClient.makeNonce())
            self.phase = .authenticating(.first(scram))
            return [Self.auth(mechanism.rawValue, Data(scram.first.utf8).base64EncodedString())]
        }
        guard names.contains("PLAIN") else {
            return self.fail("the server offers none of SCRAM-SHA-256, SCRAM-SHA-1, PLAIN")
        }
        guard !self.usesSCRAM else {
            return self.fail(
                """
                the server offers PLAIN alone, though it has proven with SCRAM before that it knows the password: it may be \
                another server. If that is meant, delete the session and add it again
                """
            )
        }
        self.phase = .authenticating(.plain)
        return [Self.auth("PLAIN", SASLPlain.response(account: name, password: password))]
    }

    private static func auth(_ mechanism: String, _ text: String) -> ChatAction {
        let attributes = ["mechanism": mechanism]
        return .send(text: XMLElement("auth", namespace: XMPPNamespaces.sasl, attributes: attributes, text: text).xml())
    }

    private static func response(_ text: String) -> ChatAction {
        let encoded = Data(text.utf8).base64EncodedString()
        return .send(text: XMLElement("response", namespace: XMPPNamespaces.sasl, text: encoded).xml())
    }

    private mutating func receivedSASL(_ element: XMLElement, _ exchange: SASLExchange) -> [ChatAction] {
        do throws(ChatFailure) {
            switch (element.name, exchange) {
            case ("failure", _): return self.refused(element)
            case ("challenge", .first(var scram)):
                let derivation = try scram.received(first: Self.decoded(element))
                self.phase = .authenticating(.deriving(scram))
                return [.derive(derivation)]
            // A server may send its proof before it completes the exchange.
            case ("challenge", .final(let scram)):
                try scram.check(final: Self.decoded(element))
                (self.phase, self.usesSCRAM) = (.authenticating(.proven), true)
                return [Self.response("")]
            case ("success", .final(let scram)):
                try scram.check(final: Self.decoded(element))
                self.usesSCRAM = true
                return self.authenticated()
            case ("success", .proven), ("success", .plain): return self.authenticated()
            default: throw ChatFailure("the server does not follow the authentication")
            }
        } catch {
            return self.fail(error.reason, isFinal: error.isFinal)
        }
    }

    package mutating func derived(_ key: [UInt8], at now: ClockReading) -> [ChatAction] {
        guard case .authenticating(.deriving(var scram)) = self.phase else { return [] }
        guard !key.isEmpty else { return self.fail("the key of the password cannot be derived") }
        let final = scram.final(key: key)
        self.phase = .authenticating(.final(scram))
        return [Self.response(final)]
    }

    private mutating func authenticated() -> [ChatAction] {
        self.isAuthenticated = true
        return self.openStream()
    }

    private static func decoded(_ element: XMLElement) throws(ChatFailure) -> String {
        guard let data = Data(base64Encoded: element.text), let text = String(data: data, encoding: .utf8) else {
            throw ChatFailure("the server's challenge is not base64 of UTF-8")
        }
        return text
    }

    /// The SASL error conditions after which another attempt may succeed (RFC 6120 section 6.5).
    private static let passing: Set = ["temporary-auth-failure", "aborted"]

    private mutating func refused(_ failure: XMLElement) -> [ChatAction] {
        let condition = failure.children.first { $0.namespace == XMPPNamespaces.sasl && $0.name != "text" }?.name ?? ""
        let isFinal = !Self.passing.contains(condition)
        return self.fail("the server refused account or password: \(condition.prefix(64))", isFinal: isFinal)
    }

    // MARK: Resumption and binding

    private mutating func resumed(_ element: XMLElement, at now: ClockReading) -> [ChatAction] {
        guard let count = element["h"].flatMap({ UInt32($0) }), self.management?.acknowledge(count) ?? false else {
            return self.fail("the server acknowledges stanzas that were never sent")
        }
        (self.jid, self.isManaged) = (self.management?.jid ?? "", true)
        self.goOnline(at: now)
        let again = self.management?.waiting.joined() ?? ""
        return [.send(text: again + Self.request), .signedIn]
    }

    private mutating func bind() -> [ChatAction] {
        (self.management, self.present) = (nil, [])
        self.phase = .binding
        let resource = XMLElement("resource", namespace: XMPPNamespaces.bind, text: self.login.clientName)
        let bind = XMLElement("bind", namespace: XMPPNamespaces.bind, children: [resource])
        return [
            .send(text: Self.iq("set", id: "bind", children: [bind]).xml(in: XMPPNamespaces.client)), .attached(false),
        ]
    }

    private mutating func receivedBinding(_ iq: XMLElement, at now: ClockReading) -> [ChatAction] {
        guard iq["id"] == "bind" else { return [] }
        guard iq["type"] == "result",
            let jid = iq.child("bind", XMPPNamespaces.bind)?.child("jid", XMPPNamespaces.bind)?.text,
            self.account.owns(jid), jid.utf8.count <= 3071
        else { return self.fail("the server binds no resource") }
        self.jid = jid
        self.goOnline(at: now)
        var actions: [ChatAction] = []
        if self.offersManagement {
            // The peers count stanzas from here on.
            self.management = StreamManagement(jid: jid)
            actions = [.send(text: "<enable xmlns='\(XMPPNamespaces.management)' resume='true'/>")]
        }
        let carbons = XMLElement("enable", namespace: XMPPNamespaces.carbons)
        let show = XMLElement("show", namespace: XMPPNamespaces.client, text: "xa")
        let presence = XMLElement("presence", namespace: XMPPNamespaces.client, children: [show])
        actions += self.send(Self.iq("set", id: "carbons", children: [carbons])) + self.send(presence)
        return actions + [.signedIn]
    }
}

/// The state of an authentication.
enum SASLExchange: Hashable, Sendable {
    case plain
    /// The state in which the client waits for the server's first challenge.
    case first(SCRAMClient)
    /// The state in which the client waits for the key that is derived from the password.
    case deriving(SCRAMClient)
    /// The state in which the client waits for the server's signature, which proves that the server knows the password.
    case final(SCRAMClient)
    /// The state after the server has proven that it knows the password.
    case proven
}
