import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes
import PushWire

/// The notification for a message that a sender has posted for an installation (docs/bridges-webpush.md).
///
/// The content is encrypted for the app. The provider cannot read it.
struct ReceivedPush: Hashable, Sendable {
    /// The longest time for which a message is kept, in seconds: 30 days.
    static let longestStorage: UInt32 = 2_592_000
    /// The shortest time for which a message that does not fit into its push can be fetched, in seconds.
    private static let leastStorage: UInt32 = 60

    /// The names of a payload's members.
    enum Member {
        /// The body, in base64url.
        static let body = "wp"
        /// The app's own name of the push resource.
        static let name = "wpid"
        /// The sender's public key and the salt of the coding `aesgcm`.
        static let (publicKey, salt) = ("wpdh", "wpsalt")
        /// The id of a body that does not fit into the push, and the token with which it is fetched.
        static let (reference, token) = ("wpref", "wptoken")
    }

    /// The id of the message, and of its notification.
    let id: UUID
    /// The time for which the message is kept, in seconds.
    let ttl: UInt32
    let content: NotificationContent
    /// The body to store because it does not fit into the push, or `nil` if it fits.
    let stored: PushMessageRecord?

    /// - Parameters:
    ///   - token: The token with which a body that does not fit is fetched.
    ///   - now: The present time, by the wall clock.
    /// - Throws: An error if the payload cannot be encoded, which does not happen.
    init(
        _ request: WebPushRequest,
        body: Data,
        to resource: PushResourceRecord,
        of app: Topic,
        id: UUID,
        token: PushCapability,
        now: Timestamp
    ) throws {
        self.id = id
        self.ttl = min(request.ttl, Self.longestStorage)
        let isEmpty = request.coding == .none
        var members: [String: JSONValue] = isEmpty ? Self.wake : Self.alert
        if !resource.name.isEmpty { members[Member.name] = .string(resource.name) }
        if case .aesgcm(let salt, let publicKey) = request.coding {
            members[Member.salt] = .string(Base64URL.encode(salt))
            members[Member.publicKey] = .string(Base64URL.encode(publicKey))
        }
        var whole = members
        whole[Member.body] = .string(Base64URL.encode(body))
        var payload = try JSONValue.object(whole).text
        if payload.count > PushType.alert.maximumPayloadSize {
            members[Member.reference] = .string(id.uuidString.lowercased())
            members[Member.token] = .string(token.text)
            payload = try JSONValue.object(members).text
            self.stored = PushMessageRecord(
                id: id,
                app: resource.app,
                resource: resource.id,
                tokenHash: token.hash,
                topic: request.topic,
                body: body,
                expiresAt: now.advanced(by: .seconds(Int64(max(self.ttl, Self.leastStorage))))
            )
        } else {
            self.stored = nil
        }
        let end = Expiration.at(seconds: now.seconds + Int64(self.ttl))
        self.content = NotificationContent(
            topic: app,
            pushType: isEmpty ? .background : .alert,
            tokenKind: .alert,
            priority: isEmpty ? .powerAware : WebPushMessage.priority(request.urgency),
            expiration: self.ttl == 0 ? .immediate : end,
            collapseID: request.topic.map { Self.collapseID($0, of: resource) },
            payload: payload
        )
    }

    /// The member `aps` for a message. The app's extension replaces the text.
    private static let alert: [String: JSONValue] = [
        "aps": .object(["alert": .object(["loc-key": .string("WP")]), "mutable-content": .integer(1)])
    ]
    /// The payload of a message without a body.
    private static let wake: [String: JSONValue] = ["aps": .object(["content-available": .integer(1)])]

    /// Returns the collapse id of a topic. It differs between push resources.
    static func collapseID(_ topic: String, of resource: PushResourceRecord) -> String {
        Base64URL.encode(SHA256.hash(data: Data("\(resource.id.uuidString)\n\(topic)".utf8)))
    }
}
