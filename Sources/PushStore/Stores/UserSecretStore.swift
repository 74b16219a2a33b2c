package import Foundation
package import PushTypes

/// The secrets by which registrations with a public key are trusted.
package protocol UserSecretStore: Sendable {
    /// Adds a secret to an app, unless it has `limit` of them.
    /// - Returns: `false` if it has.
    func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool
    /// Returns the secrets of an app, the oldest first.
    func userSecrets(app: Int64) async throws -> [UserSecretRecord]
    /// Removes a secret; what was signed with it is worth nothing from now on.
    /// - Returns: `false` if the app has none with this id.
    func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool
    /// Returns the secret of an installation, which only the first response to it shows. It is derived from the master
    /// key, and stored nowhere.
    func installationSecret(_ installation: String, of app: Topic) -> String
}
