package import Foundation
package import PushTypes

/// API keys, found by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    /// Adds a key. Only its hash is stored.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a key that is limited to an app that does not exist: it would come alive
    ///   with the next app of that name.
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    /// Returns the key with this hash; `nil` if there is none.
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Returns the hashes of keys.
    func keyHashes(limit: Int) async throws -> [[UInt8]]
    /// Returns all keys, the oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Changes the name, the scopes, the apps, the expiry or the rate of a key, and nothing else of it.
    ///
    /// The only ``APIKeyRecord/isLastingAdmin`` key stays one: of two changes at the same time one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` as ``addKey(_:hash:)`` does, for an app that the key was not limited to.
    func changeKey(_ id: UUID, _ change: @Sendable (inout APIKeyRecord) -> Void) async throws -> KeyChangeResult
    /// Deletes a key unless it is the only ``APIKeyRecord/isLastingAdmin`` one: of two that delete each other one stays.
    func deleteKey(_ id: UUID) async throws -> KeyDeletionResult
    /// Writes the times of keys' last requests, in one transaction. Earlier times than the stored ones change nothing.
    func setLastUses(_ uses: [UUID: Timestamp]) async throws
}
