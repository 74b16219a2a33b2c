package import Foundation
package import PushTypes

/// An API key. Only the hash of the key itself is stored.
package struct APIKeyRecord: Hashable, Sendable {
    package var id: UUID
    package var name: String
    package var scopes: Set<APIScope>
    /// The apps to which the key is limited, or `nil` for all apps.
    package var apps: Set<Topic>?
    package var createdAt: Timestamp
    /// The time of expiry, or `nil` for a key that never expires.
    package var expiresAt: Timestamp?
    /// The maximum number of requests per second, with bursts of twice as many, or `nil` for the server's default.
    package var rate: Int?
    /// The time of the last request, written at most about once a minute, or `nil` for a key that was never used.
    package var lastUsedAt: Timestamp?

    package init(id: UUID, name: String, scopes: Set<APIScope>, apps: Set<Topic>? = nil, createdAt: Timestamp) {
        (self.id, self.name, self.scopes, self.apps, self.createdAt) = (id, name, scopes, apps, createdAt)
    }

    /// A Boolean value that indicates whether the key can administer everything and never expires.
    package var isLastingAdmin: Bool { self.scopes.contains(.admin) && self.apps == nil && self.expiresAt == nil }

    /// A Boolean value that indicates whether the key is public, because every copy of an app contains it.
    package var isPublic: Bool { self.scopes.contains(.registerSelf) }
}

/// The result of deleting an API key.
package enum KeyDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// A refusal because this is the last key that can administer everything and never expires.
    case lastAdmin
}

/// The result of changing an API key.
package enum KeyChangeResult: Hashable, Sendable {
    case changed(APIKeyRecord)
    case missing
    /// A refusal because this is the last key that can administer everything and never expires.
    case lastAdmin
}

/// The id and the name of the API key of a request, which are stored in the records that the request creates.
package struct KeyReference: Hashable, Sendable {
    package var id: UUID
    /// The name that the key had at the time of the request.
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }
}
