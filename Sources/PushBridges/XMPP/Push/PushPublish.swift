/// A publish of a user's server: something has come for a client that is away (XEP-0357 §7).
struct PushPublish: Hashable, Sendable {
    /// The longest name of a node, in bytes.
    static let maximumNode = 1024

    var node: String
    /// The secret that the client gave to its server; empty without one.
    var secret: String
    /// Indicates whether what has come is for the user to see: its summary has the text of a message, mostly a constant, or the
    /// server says that its priority is high, as it does where the summary is encrypted.
    var isImportant: Bool

    enum Reading: Hashable, Sendable {
        case publish(PushPublish)
        case error(StanzaError)
    }

    /// Reads the `pubsub` element of a request.
    static func read(_ pubsub: XMLElement) -> Reading {
        guard let publish = pubsub.child("publish", ComponentNamespace.pubsub),
            let item = publish.child("item", ComponentNamespace.pubsub),
            let notification = item.child("notification", ComponentNamespace.push)
        else { return .error(.featureNotImplemented) }
        guard let node = publish["node"], (1...self.maximumNode).contains(node.utf8.count) else {
            return .error(.badRequest)
        }
        // Old modules of servers close one element too few, so that the options are within the publish.
        let options = [pubsub, publish, item].lazy.compactMap { $0.child("publish-options", ComponentNamespace.pubsub) }
            .first
        let secret = DataForm(options?.child("x", ComponentNamespace.form))?["secret"]
        let body = DataForm(notification.child("x", ComponentNamespace.form))?["last-message-body"] ?? ""
        let isHigh = notification.child("priority", ComponentNamespace.priority)?.text == "high"
        return .publish(PushPublish(node: node, secret: secret ?? "", isImportant: !body.isEmpty || isHigh))
    }
}
