package import Foundation

/// API keys, found by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    /// Adds a key. Only its hash is stored.
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    /// Returns the key with this hash; `nil` if there is none.
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Returns all keys, the oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Deletes a key unless it is the only one with the scope `admin`: of two that delete each other one stays.
    func deleteKey(_ id: UUID) async throws -> KeyDeletion
}
