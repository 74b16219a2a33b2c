package import Foundation
package import PushSupport

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
