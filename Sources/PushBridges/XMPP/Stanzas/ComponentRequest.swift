/// A request that the component's end of a link cannot answer by itself.
struct ComponentRequest: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case publish(PushPublish)
        case command(RegistrationCommand)
    }

    var stanza: RequestStanza
    var kind: Kind
    /// The sender: for a publish the user's server.
    var from: JabberAddress
}

/// The addresses and the id of a request, which its response repeats.
struct RequestStanza: Hashable, Sendable {
    var id: String
    /// The address of the sender, as it was written.
    var from: String
    /// The address of the component, as it was written.
    var to: String

    /// Returns the stanza that answers it.
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

/// The answer to a ``ComponentRequest``.
struct ComponentResponse: Hashable, Sendable {
    var stanza: RequestStanza
    var answer: StanzaResponse
}
