public import Foundation

/// An address at which others reach an installation by Web Push (RFC 8030), such as a server of Mastodon.
public struct PushResource: Hashable, Sendable {
    public let id: UUID
    /// The address, which the app hands to the sender. Only the call that makes it returns it: it is a secret.
    public let endpoint: URL?
    /// The app's own name, which messages carry (``PushedMessage/resource``).
    public let name: String?

    /// Reads an entry of a response; `nil` for one that cannot be read.
    init?(_ members: [String: JSONValue]) {
        guard let id = members["id"]?.string.flatMap({ UUID(uuidString: $0) }) else { return nil }
        self.id = id
        self.endpoint = members["endpoint"]?.string.flatMap { URL(string: $0) }
        self.name = members["name"]?.string
    }
}

/// A message that a sender has posted to a push resource.
///
/// It is encrypted for the app: with the trait `Encryption`, `SubscriptionKeys` opens it.
public struct PushedMessage: Hashable, Sendable {
    /// The form of the encryption.
    enum Coding: Hashable, Sendable {
        /// RFC 8291: everything is in the body.
        case aes128gcm
        /// That of the drafts, which some senders still have.
        case aesgcm(salt: Data, publicKey: Data)
    }

    /// The longest body, in bytes.
    static let maximumBody = 4096

    /// The app's own name of the push resource; `nil` if it has none.
    public let resource: String?
    /// The body as the sender has posted it; empty for a message that only wakes the app.
    public let body: Data
    let coding: Coding

    /// The place of a body that did not fit into the notification.
    struct Reference: Hashable {
        var id: UUID
        var token: String
    }

    init(_ payload: [String: JSONValue], body: Data) {
        self.resource = payload["wpid"]?.string
        self.body = body
        if let salt = payload["wpsalt"]?.string.flatMap(URLSafeBase64.decode),
            let key = payload["wpdh"]?.string.flatMap(URLSafeBase64.decode)
        {
            self.coding = .aesgcm(salt: salt, publicKey: key)
        } else {
            self.coding = .aes128gcm
        }
    }

    /// Reads the message that a notification holds; `nil` for one that holds none.
    init?(in notification: ReceivedNotification) {
        guard let body = notification.data["wp"]?.string.flatMap(URLSafeBase64.decode), body.count <= Self.maximumBody
        else { return nil }
        self.init(notification.data, body: body)
    }

    /// Reads the place of the message that a notification names; `nil` for one that names none.
    static func reference(in notification: ReceivedNotification) -> Reference? {
        guard let id = notification.data["wpref"]?.string.flatMap({ UUID(uuidString: $0) }),
            let token = notification.data["wptoken"]?.string, (1...100).contains(token.utf8.count),
            token.utf8.allSatisfy(\.isName)
        else { return nil }
        return Reference(id: id, token: token)
    }
}
