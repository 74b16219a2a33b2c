/// The namespaces of the protocols that a client of XMPP speaks, and a component where it speaks the same.
enum XMPPNamespaces {
    static let client = "jabber:client"
    static let tls = "urn:ietf:params:xml:ns:xmpp-tls"
    static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
    /// Stream management (XEP-0198).
    static let management = "urn:xmpp:sm:3"
    /// Message carbons (XEP-0280) and what they forward (XEP-0297).
    static let carbons = "urn:xmpp:carbons:2"
    static let forward = "urn:xmpp:forward:0"
    /// Delayed delivery (XEP-0203).
    static let delay = "urn:xmpp:delay"
    static let ping = "urn:xmpp:ping"
    /// Ids of stanzas that a server gives (XEP-0359).
    static let stanzaID = "urn:xmpp:sid:0"
    /// The children of messages that only the app can decrypt: explicit encryption (XEP-0380), OMEMO, OpenPGP.
    static let encrypted: Set<String> = [
        "urn:xmpp:eme:0", "eu.siacs.conversations.axolotl", "urn:xmpp:omemo:1", "urn:xmpp:omemo:2",
        "urn:xmpp:openpgp:0", "jabber:x:encrypted",
    ]
}
