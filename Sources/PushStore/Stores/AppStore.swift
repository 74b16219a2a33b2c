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
