import PushSupport

/// The error that ends a stream (RFC 6120 §4.9), found here or received.
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
    /// The reason, for logs of this side; empty for one that was received.
    package var reason: String

    package init(_ condition: Condition, _ reason: String = "") {
        (self.condition, self.reason) = (condition, reason)
    }

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

    /// Reads a received `<stream:error>`; `nil` for any other element. The peer's text is left out.
    package init?(_ element: XMLElement) {
        guard element.has("error", XMPPStream.namespace) else { return nil }
        let known = element.children.lazy.filter { $0.namespace == Self.conditions }
            .compactMap { Condition(rawValue: $0.name) }
        self.init(known.first ?? .undefinedCondition)
    }

    /// The element that tells the peer of it.
    package var element: XMLElement {
        let condition = XMLElement(self.condition.rawValue, namespace: Self.conditions)
        return XMLElement("error", namespace: XMPPStream.namespace, children: [condition])
    }

    package var description: String {
        self.reason.isEmpty ? self.condition.rawValue : "\(self.condition.rawValue): \(self.reason)"
    }
}
