package import Foundation
package import PushTypes

/// A link with which a person chooses a password, once. Only the hash of its text is stored.
package struct LinkRecord: Hashable, Sendable {
    /// The SHA-256 of the text.
    package var hash: [UInt8]
    /// The person; `nil` for the link that makes the first one, which is worth nothing once there is any.
    package var person: UUID?
    /// The time from which it is not valid, by the steady clock.
    package var expiresAt: Timestamp

    package init(hash: [UInt8], person: UUID?, expiresAt: Timestamp) {
        (self.hash, self.person, self.expiresAt) = (hash, person, expiresAt)
    }
}

/// A link that can still be redeemed.
package enum ValidLink: Hashable, Sendable {
    /// The link makes the first person, an admin.
    case firstAdmin
    /// The link sets the password of a person.
    case person(PersonRecord)
}
