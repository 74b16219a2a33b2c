/// A request that ``ComponentStateMachine`` passes on because the service must reply to it.
struct ComponentRequest: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case publish(PushPublish)
        case command(RegistrationCommand)
    }

    var stanza: RequestStanza
    var kind: Kind
    /// The parsed address of the sender. The sender of a publish is the user's server.
    var from: JabberAddress
}

/// The addresses and the id of a request, which its reply repeats.
struct RequestStanza: Hashable, Sendable {
    var id: String
    var from: String
    var to: String

    func response(_ answer: StanzaResponse) -> XMLElement {
        var stanza = XMLElement("iq", namespace: ComponentNamespace.accept)
        stanza.attributes = ["id": self.id, "from": self.to, "to": self.from]
        switch answer {
        case .result(let element):
            stanza["type"] = "result"
            stanza.children = element.map { [$0] } ?? []
        case .error(let error):
            stanza["type"] = "error"
            stanza.children = [error.element]
        }
        return stanza
    }
}

struct ComponentResponse: Hashable, Sendable {
    var stanza: RequestStanza
    var answer: StanzaResponse
}

enum StanzaResponse: Hashable, Sendable {
    /// The reply to a successful request, with an element or `nil` for an empty result.
    case result(XMLElement?)
    case error(StanzaError)
}

/// An error in reply to a stanza (RFC 6120 §8.3).
///
/// A server's reaction depends only on the error type. It sends the stanza again after *wait*, and may end a push
/// registration after any other type.
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
