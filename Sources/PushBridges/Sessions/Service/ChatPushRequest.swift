import Crypto
package import Foundation
package import ProviderModel
package import PushSupport
package import PushTypes

extension BridgeKind {
    /// The kind of bridge that keeps chat sessions for users. A bridge's name begins with the protocol, such as `irc`.
    static let session = BridgeKind("session")
}

/// The notification request for a push about messages of a conversation.
package struct ChatPushRequest: Hashable, Sendable {
    /// The time after which the push is no longer delivered: 24 h.
    private static let lifetime: Duration = .seconds(86_400)

    package let push: ChatPush
    package let session: UUID
    package let user: String
    /// The name of the bridge, such as `irc:irc.libera.chat`.
    package let bridge: String
    package let showsText: Bool

    package init(_ push: ChatPush, session: UUID, user: String, bridge: String, showsText: Bool) {
        (self.push, self.session, self.user) = (push, session, user)
        (self.bridge, self.showsText) = (bridge, showsText)
    }

    package var origin: NotificationOrigin { NotificationOrigin(.session, bridge: self.bridge) }

    /// The idempotency key, which prevents a replayed message from being pushed again.
    package var idempotency: Idempotency {
        let message = self.push.message
        // The time identifies a message without an id.
        let name = message.id ?? "\(message.at.milliseconds) \(message.text ?? "")"
        let text = [message.sender, message.thread, name].joined(separator: "\0")
        let hash = Array(SHA256.hash(data: Data(text.utf8)))
        let id = hash.prefix(16).map { String($0, radix: 16) }.joined(separator: ".")
        return Idempotency(key: "session/\(self.session.uuidString)/\(id)", fingerprint: hash)
    }

    /// Returns the notification request that sends the push to the user. The payload is a raw one, in which no part of
    /// a message is interpreted as a template.
    /// - Throws: ``RequestError`` if the request is not valid.
    package func notification(bundleID: Topic, now: Timestamp) throws(RequestError) -> NotificationRequest {
        let json: JSONValue = .object([
            "to": .object(["user": .string(self.user)]),
            "payload": self.payload,
            "pushType": .string("alert"),
            "expiration": .integer(now.advanced(by: Self.lifetime).seconds),
        ])
        return try NotificationRequest(json, bundleID: bundleID, now: now)
    }

    package var payload: JSONValue {
        let message = self.push.message
        return .object([
            "aps": .object([
                "alert": .object(self.alert.mapValues { .string($0) }), "sound": .string("default"),
                "thread-id": .string(ChatMessage.beginning(of: "\(self.bridge)/\(message.thread)", 256)),
            ]),
            "session": .object([
                "id": .string(self.session.uuidString), "conversation": .string(message.conversation),
                "sender": .string(message.sender), "count": .integer(Int64(self.push.count)),
            ]),
        ])
    }

    private var alert: [String: String] {
        let message = self.push.message
        let sender = self.push.count > 1 ? "\(message.sender) (\(self.push.count))" : message.sender
        switch (self.showsText ? message.text : nil, message.isDirect) {
        case (let text?, true): return ["title": sender, "body": text]
        case (let text?, false): return ["title": message.conversation, "subtitle": sender, "body": text]
        case (nil, true): return ["title": self.bridge, "body": sender]
        case (nil, false): return ["title": message.conversation, "body": sender]
        }
    }
}
