package import Foundation
package import PushTypes

/// The API key with which a request was made.
///
/// Every handler finds it in ``OperationRequest/caller``, so that what a request makes can name the key that made it.
package struct APICaller: Hashable, Sendable {
    package let id: UUID
    package let name: String
    /// The names of its scopes.
    package let scopes: [String]
    /// The apps that the key is limited to; `nil` for all.
    package let apps: Set<Topic>?

    package init(id: UUID, name: String, scopes: [String], apps: Set<Topic>? = nil) {
        (self.id, self.name, self.scopes, self.apps) = (id, name, scopes, apps)
    }

    /// Returns `true` if the key may act on an app.
    package func mayUse(_ app: Topic) -> Bool { self.apps?.contains(app) ?? true }
}
