package import Foundation
package import PushTypes

/// An address to which others post messages for one installation of an app (RFC 8030).
package struct PushResourceRecord: Hashable, Sendable {
    /// The maximum number of push resources of an installation. A further one is rejected.
    package static let maximumCount = 50
    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = 64

    /// The id by which the app lists and removes the push resource. It is not a secret.
    package var id: UUID
    /// The SHA-256 of the secret in the push resource's address.
    package var hash: [UInt8]
    package var app: Int64
    package var installation: String
    /// The app's own name for the push resource, which the pushes with its messages carry, or an empty string for none.
    package var name: String
    /// The public VAPID key of the only sender whose messages are accepted, or `nil` for any sender.
    package var vapidKey: [UInt8]?
    /// The origin in the address that was given out, such as `https://push.example.org`, or `nil` if it was not stored.
    package var origin: String?
    /// The URL to call when the push resource ends, so that its sender knows, or `nil` for none. The store seals it.
    package var unsubscribeURL: String?
    package var createdAt: Timestamp

    package init(
        id: UUID = UUID(),
        hash: [UInt8],
        app: Int64,
        installation: String,
        name: String = "",
        vapidKey: [UInt8]? = nil,
        origin: String? = nil,
        unsubscribeURL: String? = nil,
        createdAt: Timestamp
    ) {
        (self.id, self.hash, self.app, self.installation) = (id, hash, app, installation)
        (self.name, self.vapidKey, self.origin, self.unsubscribeURL) = (name, vapidKey, origin, unsubscribeURL)
        self.createdAt = createdAt
    }
}

/// A push resource with the device that gets its messages.
package struct PushResourceTarget: Hashable, Sendable {
    package var resource: PushResourceRecord
    package var token: DeviceToken
    package var environment: PushEnvironment

    package init(resource: PushResourceRecord, token: DeviceToken, environment: PushEnvironment) {
        (self.resource, self.token, self.environment) = (resource, token, environment)
    }
}

/// A message to a push resource that is too long for a push. The app fetches it after a push that names it.
package struct PushMessageRecord: Hashable, Sendable {
    /// The maximum number of messages of a push resource. A further one replaces the oldest.
    package static let maximumCount = 100

    package var id: UUID
    package var app: Int64
    /// The push resource to which the message was posted.
    package var resource: UUID
    /// The SHA-256 of the token with which the app fetches the message.
    package var tokenHash: [UInt8]
    /// The topic of the message, or `nil` for none. A newer message of the same topic replaces the message.
    package var topic: String?
    package var body: Data
    /// The time at which the message expires.
    package var expiresAt: Timestamp

    package init(
        id: UUID,
        app: Int64,
        resource: UUID,
        tokenHash: [UInt8],
        topic: String?,
        body: Data,
        expiresAt: Timestamp
    ) {
        (self.id, self.app, self.resource, self.tokenHash) = (id, app, resource, tokenHash)
        (self.topic, self.body, self.expiresAt) = (topic, body, expiresAt)
    }
}
