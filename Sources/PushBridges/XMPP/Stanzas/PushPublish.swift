/// A publish of a user's server, which reports that something has arrived for an absent client (XEP-0357 §7).
struct PushPublish: Hashable, Sendable {
    /// The maximum length of a node's name, in bytes.
    static let maximumNode = 1024

    var node: String
    /// The secret that the client gave to its server. It is empty without one.
    var secret: String
    /// Indicates whether the event is for the user to see. The server's priority decides that. Without a priority the
    /// event is important if its summary has the text of a message, which is mostly a constant, or is encrypted,
    /// because only the app can read it then.
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
        // Old server modules close one element too few, so that the options are inside the publish.
        let options = [pubsub, publish, item].lazy.compactMap { $0.child("publish-options", ComponentNamespace.pubsub) }
            .first
        let secret = DataForm(options?.child("x", ComponentNamespace.form))?["secret"]
        return .publish(PushPublish(node: node, secret: secret ?? "", isImportant: self.isImportant(notification)))
    }

    private static func isImportant(_ notification: XMLElement) -> Bool {
        switch notification.child("priority", ComponentNamespace.priority)?.text {
        case "high": return true
        case "low": return false
        default: break
        }
        if notification.child("encrypted", ComponentNamespace.encryption) != nil { return true }
        let body = DataForm(notification.child("x", ComponentNamespace.form))?["last-message-body"] ?? ""
        return !body.isEmpty
    }
}
