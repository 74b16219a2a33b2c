package import Foundation
package import PushTypes

/// A link with which a person chooses a password, valid once. Only the hash of its token is stored.
package struct LinkRecord: Hashable, Sendable {
    /// The SHA-256 of the token.
    package var hash: [UInt8]
    /// The id of the person whose password the link sets, or `nil` for the link that creates the first person, which is
    /// invalid once there is one.
    package var person: UUID?
    /// The time of expiry, by the steady clock.
    package var expiresAt: Timestamp

    package init(hash: [UInt8], person: UUID?, expiresAt: Timestamp) {
        (self.hash, self.person, self.expiresAt) = (hash, person, expiresAt)
    }
}

/// A link that can still be redeemed.
package enum ValidLink: Hashable, Sendable {
    /// A link that creates the first person, an admin.
    case firstAdmin
    /// A link that sets the password of a person.
    case person(PersonRecord)
}
