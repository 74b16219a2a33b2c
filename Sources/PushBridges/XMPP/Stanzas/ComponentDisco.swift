/// The replies of an XMPP push component to service discovery (XEP-0030, XEP-0357 §4.2).
struct ComponentDisco: Hashable, Sendable {
    var domain: String
    /// The dialects of ad-hoc commands with which clients may register themselves.
    var dialects: Set<RegistrationDialect>

    private static let features = [
        ComponentNamespace.discoInfo, ComponentNamespace.discoItems, XMPPNamespaces.ping,
        ComponentNamespace.publishOptions,
        ComponentNamespace.pubsub, ComponentNamespace.push,
    ]

    /// Returns the identities and the features of a node, or of the component itself if `node` is `nil`.
    func info(node: String?) -> StanzaResponse {
        let isCommands = node == ComponentNamespace.commands
        let command = self.commands.first { $0.node == node }
        guard !isCommands || !self.dialects.isEmpty else { return .error(.itemNotFound) }
        let (category, type) =
            if isCommands { ("automation", "command-list") } else if command != nil {
                ("automation", "command-node")
            } else { ("pubsub", "push") }
        var features = Self.features
        if !self.dialects.isEmpty { features += [ComponentNamespace.commands] + self.dialects.flatMap(\.features) }
        if command != nil { features = [ComponentNamespace.commands, ComponentNamespace.form] }
        let identity = self.element("identity", ["category": category, "type": type, "name": command?.name ?? "Push"])
        let children = features.sorted().map { self.element("feature", ["var": $0]) }
        return .result(self.query(ComponentNamespace.discoInfo, node, [identity] + children))
    }

    /// Returns the items of a node. Only the node of the ad-hoc commands has any.
    func items(node: String?) -> StanzaResponse {
        let commands = node == ComponentNamespace.commands ? self.commands : []
        let items = commands.map { command in
            XMLElement(
                "item",
                namespace: ComponentNamespace.discoItems,
                attributes: ["jid": self.domain, "node": command.node, "name": command.name]
            )
        }
        return .result(self.query(ComponentNamespace.discoItems, node, items))
    }

    private var commands: [(node: String, name: String)] {
        self.dialects.sorted { $0.rawValue < $1.rawValue }
            .flatMap { [($0.registerCommand, "Register for push"), ($0.unregisterCommand, "Unregister from push")] }
    }

    private func element(_ name: String, _ attributes: [String: String]) -> XMLElement {
        XMLElement(name, namespace: ComponentNamespace.discoInfo, attributes: attributes)
    }

    private func query(_ namespace: String, _ node: String?, _ children: [XMLElement]) -> XMLElement {
        var query = XMLElement("query", namespace: namespace, children: children)
        query["node"] = node
        return query
    }
}

/// The XML namespaces that only a push component uses. Those that XMPP clients use too are in ``XMPPNamespaces``.
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
