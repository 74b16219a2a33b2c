package import Foundation
package import PushTypes

/// The pauses of environments, and the work that they hold back (docs/decisions/0022).
package protocol EnvironmentStore: Sendable {
    /// Returns all pauses.
    func environmentPauses() async throws -> [EnvironmentPause]
    /// Returns a credential with its epoch; `nil` if there is none.
    /// - Throws: ``StoreError/wrongMasterKey`` if it cannot be opened.
    func storedCredential(_ target: AppEnvironment) async throws -> StoredCredential?
    /// Returns the epoch of an environment's credential, also after its removal; 0 for one that never had a credential.
    func credentialEpoch(_ target: AppEnvironment) async throws -> Int64
    /// Writes a pause, unless the environment is paused already or the credential has changed.
    /// - Returns: `true` if it was written.
    func pause(_ request: EnvironmentPauseRequest, now: Timestamp) async throws -> Bool
    /// Ends a pause.
    /// - Parameters:
    ///   - since: The beginning of the pause that ends; `nil` for any.
    ///   - event: The event for webhooks: one JSON value; `nil` if no webhook wants it.
    /// - Returns: `true` if there was such a pause.
    func endPause(of target: AppEnvironment, since: Timestamp?, event: Data?, now: Timestamp) async throws -> Bool
    /// Makes recipients and shards due that an environment without a pause holds back.
    /// - Returns: The number of those; fewer than `limit` if no more are left.
    func releaseHeld(by target: AppEnvironment, limit: Int) async throws -> Int
    /// Returns the environments that hold something back.
    func holdingEnvironments() async throws -> [AppEnvironment]
}
