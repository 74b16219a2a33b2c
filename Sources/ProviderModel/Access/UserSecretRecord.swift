package import Foundation
package import PushTypes

/// A secret with which an app's back end signs user proofs. A user proof states that an installation belongs to a user.
package struct UserSecretRecord: Hashable, Sendable {
    package var id: UUID
    package var createdAt: Timestamp
    /// The secret as text. Its bytes are the key of HMAC-SHA256. The store seals it with the master key.
    package var secret: String

    package init(id: UUID, createdAt: Timestamp, secret: String) {
        (self.id, self.createdAt, self.secret) = (id, createdAt, secret)
    }
}
