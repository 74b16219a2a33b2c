package import Foundation
package import PushSupport

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

extension APICaller {
    /// Creates the caller for requests that carry an API key, or for a dashboard session that was started with the key.
    /// - Parameter session: The id of the session, or `nil` for requests that carry the key.
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

    package var isPublic: Bool { self.has(.registerSelf) }

    /// Returns whether the caller has a scope, directly or through a broader one. It does not check the caller's apps.
    ///
    /// The scope `admin` includes all others, and `read` includes `metrics`.
    package func allows(_ scope: APIScope) -> Bool {
        self.has(scope) || self.has(.admin) || scope == .metrics && self.has(.read)
    }

    package var reference: KeyReference { KeyReference(id: self.id, name: self.name) }

    package static func names(_ scopes: Set<APIScope>) -> [String] { scopes.map(\.rawValue).sorted() }

    private func has(_ scope: APIScope) -> Bool { self.scopes.contains(scope.rawValue) }
}
