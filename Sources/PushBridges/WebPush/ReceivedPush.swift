import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes
import PushWire

/// The notification for a message that a sender has posted for an installation (docs/bridges-webpush.md).
///
/// The body of the message is encrypted for the app. The provider cannot read it.
struct ReceivedPush: Hashable, Sendable {
    /// The maximum time to live of a message, in seconds: 30 days. A longer one is clamped to it.
    static let longestStorage: UInt32 = 2_592_000
    /// The minimum time for which a message that does not fit into its push can be fetched, in seconds.
    private static let leastStorage: UInt32 = 60

    enum Member {
        static let body = "wp"
        static let name = "wpid"
        static let (publicKey, salt) = ("wpdh", "wpsalt")
        /// The id of a message that does not fit into the push, and the token with which the app fetches it.
        static let (reference, token) = ("wpref", "wptoken")
    }

    let id: UUID
    /// The time to live of the message, in seconds: at most ``longestStorage``.
    let ttl: UInt32
    let content: NotificationContent
    /// The message to store because its body does not fit into the push, or `nil` if it fits.
    let stored: PushMessageRecord?

    /// Creates the notification for a message to a push resource.
    /// - Parameters:
    ///   - token: The token with which the app fetches a body that does not fit into the push.
    ///   - now: The current time, by the wall clock.
    /// - Throws: An encoding error of the payload, which does not occur in practice.
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

    private static let alert: [String: JSONValue] = [
        "aps": .object(["alert": .object(["loc-key": .string("WP")]), "mutable-content": .integer(1)])
    ]
    private static let wake: [String: JSONValue] = ["aps": .object(["content-available": .integer(1)])]

    /// Returns the collapse id for a Web Push topic, which differs between push resources even for equal topics.
    static func collapseID(_ topic: String, of resource: PushResourceRecord) -> String {
        Base64URL.encode(SHA256.hash(data: Data("\(resource.id.uuidString)\n\(topic)".utf8)))
    }
}
