package import Foundation
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
    /// Stores a credential in place of the earlier one. What was proven with that one is forgotten.
    /// - Parameter transport: The protocol of pushes with it.
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
    /// Stops an app: from then on nothing of it can be claimed or begun.
    /// - Returns: The present stop, which is an earlier one if the app was stopped already.
    func stop(_ stop: AppStop) async throws -> AppStop
    /// Lets an app send again.
    /// - Returns: `true` if it was stopped.
    func resumeApp(_ app: Int64) async throws -> Bool
    /// Returns the stop of an app; `nil` if it is not stopped.
    func stop(of app: Int64) async throws -> AppStop?
    /// Returns the stops of all apps.
    func stops() async throws -> [AppStop]
}

extension AppStore {
    /// Stores a credential whose pushes go over HTTP/2.
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

/// Provider tokens that outlive a process, sealed.
package protocol ProviderTokenStore: Sendable {
    /// Stores `offered` if the stored token of its key is missing or due. The check and the write are one transaction:
    /// of several callers at the same time, one stores its token.
    /// - Parameter rejected: The time of issue of a token that the push service has called expired. If that token is
    ///   the stored one, it is marked first.
    /// - Returns: The token that is to be used.
    func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) async throws -> ProviderTokenRecord
}

/// The broadcast channels of apps.
package protocol ChannelStore: Sendable {
    /// Adds a channel, unless it is there. One that counted as deleted is there again.
    ///
    /// Channels of the app that were deleted more than 90 days before its `createdAt` are forgotten.
    /// - Returns: The channel as it is stored.
    func addChannel(_ channel: ChannelRecord) async throws -> ChannelRecord
    /// Returns a channel, also one that was deleted; `nil` if there is none.
    /// - Parameter environment: The environment; `nil` for the one that has a channel with this id: one that was not deleted
    ///   before one that was, then sandbox before production.
    func channel(_ id: ChannelID, app: Int64, environment: PushEnvironment?) async throws -> ChannelRecord?
    /// Returns the channels of an app that were not deleted: those of sandbox before those of production, the oldest first,
    /// and those of the same time in the order of the bytes of their ids.
    func channels(app: Int64, environment: PushEnvironment?) async throws -> [ChannelRecord]
    /// Notes that a channel was deleted.
    /// - Returns: `false` if there is none that was not.
    func channelDeleted(_ id: ChannelID, app: Int64, environment: PushEnvironment, at: Timestamp) async throws -> Bool
}
