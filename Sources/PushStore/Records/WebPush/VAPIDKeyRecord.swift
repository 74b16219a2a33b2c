package import Foundation
package import PushTypes

/// A key pair by which an app identifies itself to browsers' push services (RFC 8292). The newest of an app is the one that
/// new subscriptions are made with.
package struct VAPIDKeyRecord: Hashable, Sendable {
    /// The most keys of an app: those that subscriptions were made with stay.
    package static let maximumCount = 10

    package var id: UUID
    package var app: Int64
    /// The public key, 65 bytes.
    package var publicKey: [UInt8]
    /// The private key, 32 bytes. The store seals it with the master key.
    package var privateKey: [UInt8]
    /// The address of whoever sends, a `mailto:` or `https:` URL: one for all keys of an app.
    package var contact: String
    package var createdAt: Timestamp

    package init(
        id: UUID = UUID(),
        app: Int64,
        publicKey: [UInt8],
        privateKey: [UInt8],
        contact: String,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.publicKey, self.privateKey) = (id, app, publicKey, privateKey)
        (self.contact, self.createdAt) = (contact, createdAt)
    }
}
