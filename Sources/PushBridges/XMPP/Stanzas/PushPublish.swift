/// A publish with which a user's server reports that something has arrived for an absent client (XEP-0357 §7).
struct PushPublish: Hashable, Sendable {
    /// The maximum length of a node's name, in bytes. A publish with a longer one is a bad request.
    static let maximumNode = 1024

    var node: String
    /// The secret that the client gave to its server, or an empty string if the publish contains none.
    var secret: String
    /// The priority that the server gives, or `nil` if it gives none or an unknown one.
    var priority: Priority?
    var isSummaryEncrypted = false
    /// A Boolean value that indicates whether the summary contains a message body. Most servers send a constant string.
    var hasMessageText = false

    enum Priority: String {
        case high, low
    }

    enum Reading: Hashable, Sendable {
        case publish(PushPublish)
        case error(StanzaError)
    }

    /// Parses the `pubsub` element of a request. The result is a publish, or the error with which to reply.
    static func read(_ pubsub: XMLElement) -> Reading {
        guard let publish = pubsub.child("publish", ComponentNamespace.pubsub),
            let item = publish.child("item", ComponentNamespace.pubsub),
            let notification = item.child("notification", ComponentNamespace.push)
        else { return .error(.featureNotImplemented) }
        guard let node = publish["node"], (1...self.maximumNode).contains(node.utf8.count) else {
            return .error(.badRequest)
        }
        // Old server modules close one element too few, so that the options are nested in `publish` or `item`.
        let options = [pubsub, publish, item].lazy.compactMap { $0.child("publish-options", ComponentNamespace.pubsub) }
            .first
        let secret = DataForm(options?.child("x", ComponentNamespace.form))?["secret"]
        var read = PushPublish(node: node, secret: secret ?? "")
        let priority = notification.child("priority", ComponentNamespace.priority)?.text
        read.priority = priority.flatMap(Priority.init(rawValue:))
        read.isSummaryEncrypted = notification.child("encrypted", ComponentNamespace.encryption) != nil
        let text = DataForm(notification.child("x", ComponentNamespace.form))?["last-message-body"] ?? ""
        read.hasMessageText = !text.isEmpty
        return .publish(read)
    }
}
