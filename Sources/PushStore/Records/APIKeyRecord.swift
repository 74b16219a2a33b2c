package import Foundation
package import PushTypes

/// A permission of an API key.
package enum APIScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// The permission for everything.
    case admin
    /// The permission to send notifications.
    case send
    /// The permission to register and remove devices.
    case register
    /// The permission to read devices, notifications and deliveries.
    case read
}

/// An API key. Only the hash of the key itself is stored.
package struct APIKeyRecord: Hashable, Sendable {
    package var id: UUID
    package var name: String
    package var scopes: Set<APIScope>
    package var createdAt: Timestamp

    package init(id: UUID, name: String, scopes: Set<APIScope>, createdAt: Timestamp) {
        (self.id, self.name, self.scopes, self.createdAt) = (id, name, scopes, createdAt)
    }
}

/// The result of deleting an API key.
package enum KeyDeletion: Hashable, Sendable {
    case deleted, missing
    /// Nothing is deleted: it is the only key with the scope `admin`.
    case lastAdmin
}
