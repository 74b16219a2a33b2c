package import Foundation
package import PushTypes

/// What an API key allows.
package enum APIScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// Everything.
    case admin
    /// Send notifications.
    case send
    /// Register and remove devices.
    case register
    /// Read devices, notifications and deliveries.
    case read
}

/// An API key; the key itself is not kept, only its hash.
package struct APIKeyRecord: Hashable, Sendable {
    package var id: UUID
    package var name: String
    package var scopes: Set<APIScope>
    package var createdAt: Timestamp

    package init(id: UUID, name: String, scopes: Set<APIScope>, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.createdAt = createdAt
    }
}

/// The answer to a request to end an API key.
package enum KeyDeletion: Hashable, Sendable {
    case deleted
    case missing
    /// Without it nobody could administer the provider.
    case lastAdmin
}
