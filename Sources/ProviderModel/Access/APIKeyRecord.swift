package import Foundation
package import PushTypes

/// An API key. Only the hash of the key itself is stored.
package struct APIKeyRecord: Hashable, Sendable {
    package var id: UUID
    package var name: String
    package var scopes: Set<APIScope>
    /// The apps that the key is limited to; `nil` for all apps.
    package var apps: Set<Topic>?
    package var createdAt: Timestamp
    /// The time of expiry; `nil` for a key that never expires.
    package var expiresAt: Timestamp?
    /// The maximum number of requests per second, with bursts of twice as many; `nil` for the server's default.
    package var rate: Int?
    /// The time of the last request, written at most about once a minute; `nil` for a key that was never used.
    package var lastUsedAt: Timestamp?

    package init(id: UUID, name: String, scopes: Set<APIScope>, apps: Set<Topic>? = nil, createdAt: Timestamp) {
        (self.id, self.name, self.scopes, self.apps, self.createdAt) = (id, name, scopes, apps, createdAt)
    }

    /// `true` if the key can administer everything and never expires. The last such key cannot be removed.
    package var isLastingAdmin: Bool { self.scopes.contains(.admin) && self.apps == nil && self.expiresAt == nil }

    /// `true` if the key is public, because every copy of an app contains it.
    package var isPublic: Bool { self.scopes.contains(.registerSelf) }
}

/// The result of deleting an API key.
package enum KeyDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// Nothing is deleted, because no other key can administer everything and never expires.
    case lastAdmin
}

/// The result of changing an API key.
package enum KeyChangeResult: Hashable, Sendable {
    case changed(APIKeyRecord)
    case missing
    /// Nothing is changed, because no other key can administer everything and never expires.
    case lastAdmin
}

/// The id and the name of the API key of a request, which are stored in the records that the request creates.
package struct KeyReference: Hashable, Sendable {
    package var id: UUID
    /// The name of the key at the time of the request.
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }
}
