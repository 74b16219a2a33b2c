package import Foundation
package import PushSupport
package import PushTypes

/// A permission of an API key or a person.
package enum APIScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// The permission for everything.
    case admin
    /// The permission to send notifications.
    case send
    /// The permission to register and remove devices.
    case register
    /// The permission to run what sends: credentials, paused environments, webhooks, withheld and deactivated tokens.
    case operate
    /// The permission to read devices, notifications and deliveries.
    case read
    /// The permission to read the metrics, and nothing of any app.
    case metrics
    /// The permission of an app's copies to register their own device. A key that has it has no other.
    case registerSelf
}

/// An API key. Only the hash of the key itself is stored.
package struct APIKeyRecord: Hashable, Sendable {
    package var id: UUID
    package var name: String
    package var scopes: Set<APIScope>
    /// The apps that the key is limited to; `nil` for all.
    package var apps: Set<Topic>?
    package var createdAt: Timestamp
    /// The time from which the key is not valid; `nil` for a key that never expires.
    package var expiresAt: Timestamp?
    /// The requests per second, twice as many at once; `nil` for the server's own.
    package var rate: Int?
    /// The time of the last request that was written down, about a minute late; `nil` for a key that was never used.
    package var lastUsedAt: Timestamp?

    package init(id: UUID, name: String, scopes: Set<APIScope>, apps: Set<Topic>? = nil, createdAt: Timestamp) {
        (self.id, self.name, self.scopes, self.apps, self.createdAt) = (id, name, scopes, apps, createdAt)
    }

    /// `true` if the key can administer everything, and never expires. One such key always stays.
    package var isLastingAdmin: Bool { self.scopes.contains(.admin) && self.apps == nil && self.expiresAt == nil }

    /// `true` if the text of the key is not a secret, because it is in every copy of an app.
    package var isPublic: Bool { self.scopes.contains(.registerSelf) }
}

/// The result of deleting an API key.
package enum KeyDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// Nothing is deleted: it is the only key that can administer everything and never expires.
    case lastAdmin
}

/// The result of changing an API key.
package enum KeyChangeResult: Hashable, Sendable {
    case changed(APIKeyRecord)
    case missing
    /// Nothing is changed: it is the only key that can administer everything and never expires.
    case lastAdmin
}

extension APICaller {
    /// The caller whose requests bring an API key, or who has signed in with it.
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

    /// `true` if the text of the key is not a secret, because it is in every copy of an app.
    package var isPublic: Bool { self.has(.registerSelf) }

    /// Returns `true` if the caller may call operations of a scope, as far as it is not limited to apps.
    ///
    /// The scope `admin` includes all others, `read` the metrics.
    package func allows(_ scope: APIScope) -> Bool {
        self.has(scope) || self.has(.admin) || scope == .metrics && self.has(.read)
    }

    /// The caller as what its requests make keeps it.
    package var reference: KeyReference { KeyReference(id: self.id, name: self.name) }

    /// Returns the names of scopes in alphabetical order.
    static func names(_ scopes: Set<APIScope>) -> [String] { scopes.map(\.rawValue).sorted() }

    private func has(_ scope: APIScope) -> Bool { self.scopes.contains(scope.rawValue) }
}

/// The API key of a request, as what the request made keeps it.
package struct KeyReference: Hashable, Sendable {
    package var id: UUID
    /// The name of the key at that time.
    package var name: String

    package init(id: UUID, name: String) { (self.id, self.name) = (id, name) }
}

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
