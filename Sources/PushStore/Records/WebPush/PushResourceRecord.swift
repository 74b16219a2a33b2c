package import Foundation
package import PushTypes

/// An address to which others post messages for one installation of an app (RFC 8030).
package struct PushResourceRecord: Hashable, Sendable {
    /// The most addresses of an installation.
    package static let maximumCount = 50
    /// The longest name, in bytes.
    package static let maximumName = 64

    /// The id by which the app lists and removes it. It is no secret.
    package var id: UUID
    /// The SHA-256 of the secret in the address.
    package var hash: [UInt8]
    package var app: Int64
    package var installation: String
    /// The app's own name of it, which its messages carry; empty for none.
    package var name: String
    /// The public VAPID key of the only sender that it accepts; `nil` for any sender.
    package var vapidKey: [UInt8]?
    /// The origin of the address as it was given out, such as `https://push.example.org`; `nil` where none was kept.
    package var origin: String?
    /// The URL at which its sender is told that it has ended; `nil` for none. The store seals it.
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

/// A push resource with the device at which its messages end.
package struct PushResourceTarget: Hashable, Sendable {
    package var resource: PushResourceRecord
    package var token: DeviceToken
    package var environment: PushEnvironment

    package init(resource: PushResourceRecord, token: DeviceToken, environment: PushEnvironment) {
        (self.resource, self.token, self.environment) = (resource, token, environment)
    }
}

/// A message that does not fit into a push: the app fetches it.
package struct PushMessageRecord: Hashable, Sendable {
    /// The most messages of a push resource; the oldest gives way.
    package static let maximumCount = 100

    package var id: UUID
    package var app: Int64
    /// The push resource that it came to.
    package var resource: UUID
    /// The SHA-256 of the token with which it is fetched.
    package var tokenHash: [UInt8]
    /// The topic, whose newer message replaces it; `nil` for none.
    package var topic: String?
    package var body: Data
    /// The time after which nobody gets it.
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
