/// The response to a request of another entity.
enum StanzaResponse: Hashable, Sendable {
    /// Success, with the element of the response if it has one.
    case result(XMLElement?)
    case error(StanzaError)
}

/// An error that answers a stanza (RFC 6120 §8.3).
///
/// What a server does depends on the type alone: it tries again after *wait*, and may end a registration after any other.
struct StanzaError: Hashable, Sendable {
    enum Kind: String, Sendable {
        case auth, cancel, modify, wait
    }

    var kind: Kind
    var condition: String

    static let badRequest = StanzaError(kind: .modify, condition: "bad-request")
    static let featureNotImplemented = StanzaError(kind: .cancel, condition: "feature-not-implemented")
    static let forbidden = StanzaError(kind: .auth, condition: "forbidden")
    static let internalServerError = StanzaError(kind: .wait, condition: "internal-server-error")
    static let itemNotFound = StanzaError(kind: .cancel, condition: "item-not-found")
    static let resourceConstraint = StanzaError(kind: .wait, condition: "resource-constraint")
    static let serviceUnavailable = StanzaError(kind: .cancel, condition: "service-unavailable")

    var element: XMLElement {
        let condition = XMLElement(self.condition, namespace: XMPPNamespaces.stanzaErrors)
        return XMLElement(
            "error",
            namespace: ComponentNamespace.accept,
            attributes: ["type": self.kind.rawValue],
            children: [condition]
        )
    }
}
