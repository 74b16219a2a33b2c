package import Foundation
package import PushTypes

/// A secret with which the back end of an app signs that an installation belongs to a user.
package struct UserSecretRecord: Hashable, Sendable {
    package var id: UUID
    package var createdAt: Timestamp
    /// The text, whose bytes are the key of HMAC-SHA256. The store seals it with the master key.
    package var secret: String

    package init(id: UUID, createdAt: Timestamp, secret: String) {
        (self.id, self.createdAt, self.secret) = (id, createdAt, secret)
    }
}
