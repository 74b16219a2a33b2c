package import Foundation
package import PushSupport
package import PushTypes

/// A permission of an API key or a person.
package enum APIScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// The permission for all operations.
    case admin
    /// The permission to send notifications.
    case send
    /// The permission to register and remove devices.
    case register
    /// The permission to manage credentials, paused environments, webhooks, and withheld and deactivated tokens.
    case operate
    /// The permission to read devices, notifications and deliveries.
    case read
    /// The permission to read the server's metrics, but no data of apps.
    case metrics
    /// The permission of an installation to register its own device. A key with it has no other scope.
    case registerSelf
}

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

extension APICaller {
    /// Creates the caller for requests that carry an API key, or for a dashboard session that was started with the key.
    /// - Parameter session: The id of the session; `nil` for requests that carry the key.
    package init(_ key: APIKeyRecord, session: UUID? = nil) {
        self.init(
            id: key.id,
            name: key.name,
            scopes: Self.names(key.scopes),
            apps: key.apps,
            rate: key.rate,
            session: session
        )
    }

    /// `true` if the key is public, because every copy of an app contains it.
    package var isPublic: Bool { self.has(.registerSelf) }

    /// Returns `true` if the caller has a scope, directly or through a broader one. It does not check the caller's
    /// apps.
    ///
    /// The scope `admin` includes all others, and `read` includes `metrics`.
    package func allows(_ scope: APIScope) -> Bool {
        self.has(scope) || self.has(.admin) || scope == .metrics && self.has(.read)
    }

    /// The id and the name of the caller, for the records that its requests create.
    package var reference: KeyReference { KeyReference(id: self.id, name: self.name) }

    /// Returns the names of scopes in alphabetical order.
    package static func names(_ scopes: Set<APIScope>) -> [String] { scopes.map(\.rawValue).sorted() }

    private func has(_ scope: APIScope) -> Bool { self.scopes.contains(scope.rawValue) }
}

/// The id and the name of the API key of a request, which are stored in the records that the request creates.
package struct KeyReference: Hashable, Sendable {
    package var id: UUID
    /// The name of the key at the time of the request.
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }
}

/// A secret with which an app's back end signs user proofs, which state that an installation belongs to a user.
package struct UserSecretRecord: Hashable, Sendable {
    package var id: UUID
    package var createdAt: Timestamp
    /// The secret as text. Its bytes are the key of HMAC-SHA256. The store seals it with the master key.
    package var secret: String

    package init(id: UUID, createdAt: Timestamp, secret: String) {
        (self.id, self.createdAt, self.secret) = (id, createdAt, secret)
    }
}
