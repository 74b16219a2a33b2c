package import Foundation
package import ProviderModel
package import PushTypes

/// The apps, their credentials, and the stops of apps.
package protocol AppStore: Sendable {
    /// Adds an app unless there is one with this bundle id.
    /// - Parameter changes: The settings of an app that is added.
    /// - Returns: The app as it is stored, and whether it was added.
    /// - Throws: ``StoreError/beingErased(_:)``.
    func addApp(bundleID: Topic, _ changes: AppChanges, now: Timestamp) async throws -> (app: AppRecord, isNew: Bool)
    /// Returns all apps in the order of their bundle ids, without those that cannot be read.
    func apps() async throws -> [AppRecord]
    /// Returns the app with this bundle id; `nil` if there is none.
    func app(bundleID: Topic) async throws -> AppRecord?
    /// Returns the app with this id; `nil` if there is none.
    func app(id: Int64) async throws -> AppRecord?
    /// Returns the app that a record belongs to; `nil` if there is no such record.
    func owner(of record: AppOwnedRecord) async throws -> Topic?
    /// Changes settings of an app, all in one transaction.
    /// - Returns: The app with the changes; `nil` if there is none with this id.
    func changeApp(_ id: Int64, _ changes: AppChanges) async throws -> AppRecord?
    /// Stores a credential in place of the earlier one, and resets the health that was derived from the earlier one.
    /// - Parameter transport: The protocol over which pushes with the credential are sent.
    func setCredential(
        _ credential: CredentialRecord,
        over transport: PushTransport,
        app: Int64,
        environment: PushEnvironment
    ) async throws
    /// Removes a credential.
    /// - Returns: `true` if there was one.
    func removeCredential(app: Int64, environment: PushEnvironment) async throws -> Bool
    /// Returns a credential; `nil` if there is none.
    /// - Throws: ``StoreError/wrongMasterKey`` if it cannot be opened.
    func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord?
    /// Returns the environments for which the app has a credential.
    func environments(app: Int64) async throws -> Set<PushEnvironment>
    /// Returns the protocol of each environment for which the app has a credential.
    func transports(app: Int64) async throws -> [PushEnvironment: PushTransport]
    /// Stops an app: from then on nothing of it can be claimed or sent.
    /// - Returns: The stop in effect, which is an earlier one if the app was stopped already.
    func stop(_ stop: AppStop) async throws -> AppStop
    /// Ends the stop of an app, so that its notifications are sent again.
    /// - Returns: `true` if it was stopped.
    func resumeApp(_ app: Int64) async throws -> Bool
    /// Returns the stop of an app; `nil` if it is not stopped.
    func stop(of app: Int64) async throws -> AppStop?
    /// Returns the stops of all apps.
    func stops() async throws -> [AppStop]
}

extension AppStore {
    /// Stores a credential for pushes over HTTP/2.
    package func setCredential(_ credential: CredentialRecord, app: Int64, environment: PushEnvironment) async throws {
        try await self.setCredential(credential, over: .http2, app: app, environment: environment)
    }
}

/// The pauses of environments, and the work that they hold back (docs/decisions/0022).
package protocol EnvironmentStore: Sendable {
    /// Returns all pauses.
    func environmentPauses() async throws -> [EnvironmentPause]
    /// Returns a credential with its epoch; `nil` if there is none.
    /// - Throws: ``StoreError/wrongMasterKey`` if it cannot be opened.
    func storedCredential(_ target: AppEnvironment) async throws -> StoredCredential?
    /// Returns the epoch of an environment's credential, even after its removal; 0 for an environment that never had one.
    func credentialEpoch(_ target: AppEnvironment) async throws -> Int64
    /// Writes a pause, unless the environment is paused already or the credential has changed.
    /// - Returns: `true` if it was written.
    func pause(_ request: EnvironmentPauseRequest, now: Timestamp) async throws -> Bool
    /// Ends a pause.
    /// - Parameters:
    ///   - since: The beginning of the pause to end; `nil` for any pause.
    ///   - event: The event for webhooks: one JSON value; `nil` if no webhook wants it.
    /// - Returns: `true` if there was such a pause.
    func endPause(of target: AppEnvironment, since: Timestamp?, event: Data?, now: Timestamp) async throws -> Bool
    /// Makes recipients and shards due that were held back by an environment which is not paused any more.
    /// - Returns: The number of recipients and shards; fewer than `limit` if no more are left.
    func releaseHeld(by target: AppEnvironment, limit: Int) async throws -> Int
    /// Returns the environments that hold recipients or shards back.
    func holdingEnvironments() async throws -> [AppEnvironment]
}

/// The sealed provider tokens, which are kept across restarts of the process.
package protocol ProviderTokenStore: Sendable {
    /// Stores `offered` if its key has no stored token, or the stored one is due to be replaced. The check and the write are
    /// one transaction: of several concurrent callers one stores its token.
    /// - Parameter rejected: The time of issue of a token that the push service has called expired. If it is the stored
    ///   token, it is marked as rejected first.
    /// - Returns: The token that is to be used.
    func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord
}

/// The broadcast channels of apps.
package protocol ChannelStore: Sendable {
    /// Adds a channel unless it is stored already. A channel that was marked as deleted is restored.
    ///
    /// Channels of the app that were deleted more than 90 days before the `createdAt` of `channel` are removed.
    /// - Returns: The channel as it is stored.
    func addChannel(_ channel: ChannelRecord) async throws -> ChannelRecord
    /// Returns a channel, even if it is marked as deleted; `nil` if there is none.
    /// - Parameter environment: The environment; `nil` for any that has a channel with this id. An existing channel is
    ///   preferred to a deleted one, and sandbox to production.
    func channel(_ id: ChannelID, app: Int64, environment: PushEnvironment?) async throws -> ChannelRecord?
    /// Returns the existing channels of an app: those of sandbox before those of production, oldest first. Channels of
    /// the same time are in the order of the bytes of their ids.
    func channels(app: Int64, environment: PushEnvironment?) async throws -> [ChannelRecord]
    /// Marks a channel as deleted.
    /// - Returns: `false` if there is no existing channel with this id.
    func channelDeleted(_ id: ChannelID, app: Int64, environment: PushEnvironment, at: Timestamp) async throws -> Bool
}
