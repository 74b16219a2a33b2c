package import Foundation
package import ProviderModel
package import PushTypes

/// The store of apps, of their credentials, and of stops, which prevent an app from sending.
package protocol AppStore: Sendable {
    /// Adds an app, unless an app with this bundle id exists.
    /// - Parameter changes: The settings of the app if it is added. They are not applied to an existing app.
    /// - Returns: The stored app. `isNew` is `true` if this call added it.
    /// - Throws: ``StoreError/beingErased(_:)`` if an app with this bundle id is still being erased.
    func addApp(bundleID: Topic, _ changes: AppChanges, now: Timestamp) async throws -> (app: AppRecord, isNew: Bool)
    /// Returns all apps in the order of their bundle ids. Apps that cannot be read are left out.
    func apps() async throws -> [AppRecord]
    /// Returns the app with this bundle id, or `nil` if there is none.
    func app(bundleID: Topic) async throws -> AppRecord?
    /// Returns the app with this id, or `nil` if there is none.
    func app(id: Int64) async throws -> AppRecord?
    /// Returns the bundle id of the app that owns a record, or `nil` if there is no such record.
    func owner(of record: AppOwnedRecord) async throws -> Topic?
    /// Changes settings of an app in one transaction.
    /// - Returns: The app after the changes, or `nil` if no app has this id.
    func changeApp(_ id: Int64, _ changes: AppChanges) async throws -> AppRecord?
    /// Stores a credential, replacing the earlier one, and resets the environment's health and circuit breaker.
    /// - Parameter transport: The protocol over which pushes with the credential are sent.
    func setCredential(
        _ credential: CredentialRecord,
        over transport: PushTransport,
        app: Int64,
        environment: PushEnvironment
    ) async throws
    /// Removes a credential.
    /// - Returns: Whether there was a credential.
    func removeCredential(app: Int64, environment: PushEnvironment) async throws -> Bool
    /// Returns the credential of an app for an environment, or `nil` if there is none.
    /// - Throws: ``StoreError/wrongMasterKey`` if its secret cannot be opened.
    func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord?
    /// Returns the environments for which the app has a credential.
    func environments(app: Int64) async throws -> Set<PushEnvironment>
    /// Returns the protocol of each environment for which an app has a credential.
    func transports(app: Int64) async throws -> [PushEnvironment: PushTransport]
    /// Stops an app. From then on, none of its notifications is claimed or sent.
    /// - Returns: The stop in effect. It is the earlier one if the app was already stopped.
    func stop(_ stop: AppStop) async throws -> AppStop
    /// Ends the stop of an app, so that its notifications are sent again.
    /// - Returns: Whether the app was stopped.
    func resumeApp(_ app: Int64) async throws -> Bool
    /// Returns the stop of an app, or `nil` if it is not stopped.
    func stop(of app: Int64) async throws -> AppStop?
    /// Returns the stops of all apps.
    func stops() async throws -> [AppStop]
}

extension AppStore {
    /// Stores a credential whose pushes are sent over HTTP/2.
    package func setCredential(_ credential: CredentialRecord, app: Int64, environment: PushEnvironment) async throws {
        try await self.setCredential(credential, over: .http2, app: app, environment: environment)
    }
}

/// The store of paused environments, and of the recipients and shards whose sending they delay (docs/decisions/0022).
package protocol EnvironmentStore: Sendable {
    /// Returns the pauses of all environments.
    func environmentPauses() async throws -> [EnvironmentPause]
    /// Returns a credential with its epoch, the number of its changes, or `nil` if there is none.
    /// - Throws: ``StoreError/wrongMasterKey`` if its secret cannot be opened.
    func storedCredential(_ target: AppEnvironment) async throws -> StoredCredential?
    /// Returns the epoch of an environment's credential, which outlives the credential, or 0 if there never was one.
    func credentialEpoch(_ target: AppEnvironment) async throws -> Int64
    /// Pauses an environment, unless it is already paused or its credential has changed since the fault was observed. A
    /// request that replaces a fault changes only the fault of an existing pause.
    /// - Returns: Whether the pause was recorded.
    func pause(_ request: EnvironmentPauseRequest, now: Timestamp) async throws -> Bool
    /// Ends the pause of an environment.
    /// - Parameters:
    ///   - since: The beginning of the pause to end, or `nil` to end a pause with any beginning.
    ///   - event: The webhook event, as one JSON value, or `nil` if no webhook subscribes to it.
    /// - Returns: Whether there was such a pause.
    func endPause(of target: AppEnvironment, since: Timestamp?, event: Data?, now: Timestamp) async throws -> Bool
    /// Makes those recipients and shards due whose sending an environment delayed while it was paused.
    /// - Returns: The number of recipients and shards, which is 0 while the environment is paused. If it is less than
    ///   `limit`, none are left.
    func releaseHeld(by target: AppEnvironment, limit: Int) async throws -> Int
    /// Returns the environments, paused or not, for which recipients or shards are still delayed.
    func holdingEnvironments() async throws -> [AppEnvironment]
}

/// The store of sealed provider tokens, so that they survive restarts of the process.
package protocol ProviderTokenStore: Sendable {
    /// Stores `offered` if its key has no stored token, or if the stored token is due for replacement. The check and
    /// the write are one transaction: of several concurrent callers, only one stores its token.
    /// - Parameter rejected: The time of issue of a token that the push service has rejected as expired, or `nil` if it
    ///   has rejected none. If that token is the stored one, the store first marks it as rejected.
    /// - Returns: The token that the caller has to use.
    func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord
}

/// The store of apps' broadcast channels.
package protocol ChannelStore: Sendable {
    /// Adds a channel, unless it is already stored. A channel that was marked as deleted is restored.
    ///
    /// It also removes channels of the app that were deleted more than 90 days before the `createdAt` of `channel`.
    /// - Returns: The channel as it is stored.
    func addChannel(_ channel: ChannelRecord) async throws -> ChannelRecord
    /// Returns a channel, even one that is marked as deleted, or `nil` if there is none.
    /// - Parameter environment: The environment of the channel, or `nil` for any. With `nil`, a channel that is not
    ///   deleted is preferred to a deleted one, and sandbox to production.
    func channel(_ id: ChannelID, app: Int64, environment: PushEnvironment?) async throws -> ChannelRecord?
    /// Returns the channels of an app that are not deleted, in one environment or, with `nil`, in both: sandbox before
    /// production, and oldest first. Channels with the same time are sorted by the bytes of their ids.
    func channels(app: Int64, environment: PushEnvironment?) async throws -> [ChannelRecord]
    /// Marks a channel as deleted.
    /// - Returns: `true`, or `false` if there is no channel with this id, or if it is already deleted.
    func channelDeleted(_ id: ChannelID, app: Int64, environment: PushEnvironment, at: Timestamp) async throws -> Bool
}
