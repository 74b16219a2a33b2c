public import Foundation

/// An address at which a sender, such as a Mastodon server, reaches an installation by Web Push (RFC 8030).
public struct PushResource: Hashable, Sendable {
    public let id: UUID
    /// The URL to which the sender sends messages in POST requests. It is a secret, which only
    /// ``Martlet/makePushResource(name:sender:)`` returns. It is `nil` in a resource that ``Martlet/pushResources()``
    /// returns.
    public let endpoint: URL?
    /// The app's name for the resource, which its messages contain (``PushedMessage/resource``), or `nil` for none.
    public let name: String?

    /// Parses an entry of a response. Returns `nil` if the entry is not valid.
    init?(_ members: [String: JSONValue]) {
        guard let id = members["id"]?.string.flatMap({ UUID(uuidString: $0) }) else { return nil }
        self.id = id
        self.endpoint = members["endpoint"]?.string.flatMap { URL(string: $0) }
        self.name = members["name"]?.string
    }
}

/// A message that a sender has sent to a push resource. Its body is encrypted for the app. With the trait `Encryption`,
/// `SubscriptionKeys` decrypts it.
public struct PushedMessage: Hashable, Sendable {
    /// The content encoding of an encrypted body.
    enum Coding: Hashable, Sendable {
        /// The encoding of RFC 8291, whose parameters are in the body.
        case aes128gcm
        /// The encoding of the drafts of RFC 8291, which some senders still use.
        case aesgcm(salt: Data, publicKey: Data)
    }

    /// The maximum size of a body in bytes. A message with a longer one is not accepted.
    static let maximumBody = 4096

    /// The app's name for the push resource, or `nil` if it has none.
    public let resource: String?
    /// The body as the sender has sent it, which is empty for a message that only wakes the app.
    public let body: Data
    let coding: Coding

    /// The id and the token for loading a message body that was too large for the notification.
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

    /// Parses the message in a notification. Returns `nil` if there is none.
    init?(in notification: ReceivedNotification) {
        guard let body = notification.data["wp"]?.string.flatMap(URLSafeBase64.decode), body.count <= Self.maximumBody
        else { return nil }
        self.init(notification.data, body: body)
    }

    /// Parses the reference to a message in a notification. Returns `nil` if there is none.
    static func reference(in notification: ReceivedNotification) -> Reference? {
        guard let id = notification.data["wpref"]?.string.flatMap({ UUID(uuidString: $0) }),
            let token = notification.data["wptoken"]?.string, (1...100).contains(token.utf8.count),
            token.utf8.allSatisfy(\.isName)
        else { return nil }
        return Reference(id: id, token: token)
    }
}

extension Martlet {
    /// Creates an address at which a sender reaches this installation by Web Push.
    ///
    /// Pass ``PushResource/endpoint`` to the sender, with the public key of a `SubscriptionKeys`. An installation has
    /// at most 50 addresses, and a further one is refused. They are removed with the installation, so at a launch,
    /// compare ``pushResources()`` with the addresses that senders have.
    /// - Parameters:
    ///   - name: The app's name for the resource, which each message contains, of at most 64 bytes, or `nil` for none.
    ///   - sender: The VAPID public key, of 65 bytes, of the only accepted sender, or `nil` for any sender.
    /// - Throws: ``InstallationError`` if the request fails.
    public func makePushResource(name: String? = nil, sender: Data? = nil) async throws(InstallationError)
        -> PushResource
    {
        var body: [String: JSONValue] = [:]
        body["name"] = name.map { .string($0) }
        body["vapidKey"] = sender.map { .string(URLSafeBase64.encode($0)) }
        let members = try await self.members("POST", "push-resources", body: body)
        guard let resource = PushResource(members), resource.endpoint != nil else {
            throw .unavailable(reason: "the response has no address", retryAfter: nil)
        }
        return resource
    }

    /// Returns the push resources of this installation, without their addresses.
    /// - Throws: ``InstallationError`` if the request fails.
    public func pushResources() async throws(InstallationError) -> [PushResource] {
        let members = try await self.members("GET", "push-resources")
        return (members["pushResources"]?.array ?? []).compactMap { $0.object.flatMap { PushResource($0) } }
    }

    /// Removes a push resource. The sender is told of this at its next message. Removing it again has no effect.
    /// - Throws: ``InstallationError`` if the request fails.
    public func removePushResource(_ id: UUID) async throws(InstallationError) {
        do {
            _ = try await self.members("DELETE", "push-resources/\(id.uuidString)")
        } catch {
            guard case .refused(code: "no_such_push_resource", _) = error else { throw error }
        }
    }

    /// Returns the message in a notification that was sent to a push resource, or `nil` for any other notification.
    ///
    /// A message that was too large for the notification is loaded from the provider. Call this method in the
    /// notification service extension, since the notification has no content before.
    /// - Throws: ``InstallationError`` if the message cannot be loaded.
    public func message(of notification: ReceivedNotification) async throws(InstallationError) -> PushedMessage? {
        guard let reference = PushedMessage.reference(in: notification) else {
            return PushedMessage(in: notification)
        }
        let url = self.configuration.provider.appending(path: "push/messages/\(reference.id.uuidString.lowercased())")
        var request = TransportRequest(method: "GET", url: url, maximumResponse: PushedMessage.maximumBody)
        request.headers = ["authorization": "Bearer \(reference.token)", "accept": "application/octet-stream"]
        let result = await self.send(request)
        guard case .success(let response) = result, response.status == 200 else {
            _ = try ProviderResult(result).members()
            throw .unavailable(reason: "the response cannot be read", retryAfter: nil)
        }
        return PushedMessage(notification.data, body: response.body)
    }
}

/// The encoding base64url without padding (RFC 4648 section 5).
enum URLSafeBase64 {
    static func encode(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes a string. Returns `nil` if it is not base64url.
    static func decode(_ text: String) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
