import PushSupport

/// The opening and closing tags of an XMPP stream (RFC 6120 §4).
package enum XMPPStream {
    package static let namespace = "http://etherx.jabber.org/streams"

    /// Returns the XML that opens a stream.
    /// - Parameters:
    ///   - content: The default namespace of the stream, such as `jabber:client` or `jabber:component:accept`.
    ///   - attributes: The attributes of the stream header, such as `to` and `version`.
    package static func opening(content: String, attributes: [String: String]) -> String {
        let attributes = attributes.sorted { $0.key < $1.key }
            .map { " \($0.key)='\(XMLElement.escaped($0.value))'" }.joined()
        return "<?xml version='1.0'?><stream:stream xmlns='\(content)' xmlns:stream='\(Self.namespace)'\(attributes)>"
    }

    package static let closing = "</stream:stream>"
}

/// The namespaces of the XMPP protocols that clients use, some of which components use too.
enum XMPPNamespaces {
    static let client = "jabber:client"
    static let tls = "urn:ietf:params:xml:ns:xmpp-tls"
    static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
    static let management = "urn:xmpp:sm:3"
    static let carbons = "urn:xmpp:carbons:2"
    static let forward = "urn:xmpp:forward:0"
    static let delay = "urn:xmpp:delay"
    static let ping = "urn:xmpp:ping"
    static let stanzaID = "urn:xmpp:sid:0"
    /// The namespaces of message children that only the app can decrypt: those of XEP-0380, OMEMO and OpenPGP.
    static let encrypted: Set<String> = [
        "urn:xmpp:eme:0", "eu.siacs.conversations.axolotl", "urn:xmpp:omemo:1", "urn:xmpp:omemo:2",
        "urn:xmpp:openpgp:0", "jabber:x:encrypted",
    ]
}

/// The error that ends a stream (RFC 6120 §4.9), whether it was detected locally or received from the peer.
package struct XMPPStreamError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Condition: String, Sendable {
        case badFormat = "bad-format"
        case badNamespacePrefix = "bad-namespace-prefix"
        case conflict
        case connectionTimeout = "connection-timeout"
        case hostGone = "host-gone"
        case hostUnknown = "host-unknown"
        case improperAddressing = "improper-addressing"
        case internalServerError = "internal-server-error"
        case invalidFrom = "invalid-from"
        case invalidNamespace = "invalid-namespace"
        case invalidXML = "invalid-xml"
        case notAuthorized = "not-authorized"
        case notWellFormed = "not-well-formed"
        case policyViolation = "policy-violation"
        case remoteConnectionFailed = "remote-connection-failed"
        case reset
        case resourceConstraint = "resource-constraint"
        case restrictedXML = "restricted-xml"
        case seeOtherHost = "see-other-host"
        case systemShutdown = "system-shutdown"
        case undefinedCondition = "undefined-condition"
        case unsupportedEncoding = "unsupported-encoding"
        case unsupportedFeature = "unsupported-feature"
        case unsupportedStanzaType = "unsupported-stanza-type"
        case unsupportedVersion = "unsupported-version"
    }

    package var condition: Condition
    /// The explanation for the log. It is empty for a received error.
    package var reason: String

    package init(_ condition: Condition, _ reason: String = "") { (self.condition, self.reason) = (condition, reason) }

    init(_ fault: XMLFault) {
        let condition: Condition =
            switch fault.kind {
            case .notUTF8: .badFormat
            case .notWellFormed: .notWellFormed
            case .restricted: .restrictedXML
            case .exceedsLimit: .policyViolation
            }
        self.init(condition, fault.reason)
    }

    private static let conditions = "urn:ietf:params:xml:ns:xmpp-streams"

    /// Parses a received `<stream:error>`. Returns `nil` for any other element. The peer's explanation is ignored.
    package init?(_ element: XMLElement) {
        guard element.has("error", XMPPStream.namespace) else { return nil }
        let known = element.children.lazy.filter { $0.namespace == Self.conditions }
            .compactMap { Condition(rawValue: $0.name) }
        self.init(known.first ?? .undefinedCondition)
    }

    package var element: XMLElement {
        let condition = XMLElement(self.condition.rawValue, namespace: Self.conditions)
        return XMLElement("error", namespace: XMPPStream.namespace, children: [condition])
    }

    package var description: String {
        self.reason.isEmpty ? self.condition.rawValue : "\(self.condition.rawValue): \(self.reason)"
    }
}

/// An event that ``XMPPStreamParser`` reports.
package enum XMPPStreamEvent: Hashable, Sendable {
    /// Reports that the peer has opened the stream. The attributes are those of the header. `xmlns` is its default
    /// namespace.
    case streamStart(XMLElement)
    /// Reports a complete top-level element: a stanza, or an element of the stream itself, such as `features`.
    case stanza(XMLElement)
    /// Reports that the peer has closed the stream.
    case streamEnd
}
