/// The namespaces that only a push component reads and writes, besides those of ``XMPPNamespaces``.
enum ComponentNamespace {
    static let accept = "jabber:component:accept"
    static let commands = "http://jabber.org/protocol/commands"
    static let discoInfo = "http://jabber.org/protocol/disco#info"
    static let discoItems = "http://jabber.org/protocol/disco#items"
    static let encryption = "tigase:push:encrypt:0"
    static let form = "jabber:x:data"
    static let priority = "tigase:push:priority:0"
    static let publishOptions = "http://jabber.org/protocol/pubsub#publish-options"
    static let pubsub = "http://jabber.org/protocol/pubsub"
    static let push = "urn:xmpp:push:0"
}
