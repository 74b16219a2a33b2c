package import Foundation
package import PushTypes

/// A key pair by which an app identifies itself to browsers' push services (RFC 8292). New subscriptions use the
/// newest.
package struct VAPIDKeyRecord: Hashable, Sendable {
    /// The maximum number of keys of an app. Keys of existing subscriptions are kept, so a further key is rejected.
    package static let maximumCount = 10

    package var id: UUID
    package var app: Int64
    /// The public key, 65 bytes.
    package var publicKey: [UInt8]
    /// The private key, 32 bytes. The store seals it with the master key.
    package var privateKey: [UInt8]
    /// The contact of the sender, a `mailto:` or `https:` URL. All keys of an app have the same.
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
