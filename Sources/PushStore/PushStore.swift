package import Foundation
package import PushProtocol

/// Everything that a provider must remember. What a method has written is on disk when it returns.
package protocol PushStore: AppStore, DeviceStore, NotificationStore, APIKeyStore {}

/// Apps and what they prove themselves with.
package protocol AppStore: Sendable {
    /// The app, and whether it is new.
    func addApp(bundleID: Topic, name: String?, now: Timestamp) async throws -> (app: AppRecord, isNew: Bool)
    /// In the order of their bundle ids.
    func apps() async throws -> [AppRecord]
    func app(bundleID: Topic) async throws -> AppRecord?
    /// Replaces the one that was there.
    func setCredential(_ credential: CredentialRecord, app: Int64, environment: PushEnvironment) async throws
    func credential(app: Int64, environment: PushEnvironment) async throws -> CredentialRecord?
    /// The environments for which the app has a credential.
    func environments(app: Int64) async throws -> Set<PushEnvironment>
}

/// Devices: one per app, environment and token.
package protocol DeviceStore: Sendable {
    /// Adds the device or refreshes it; what the registration leaves out stays as it was.
    func register(
        _ registration: DeviceRegistration,
        app: Int64,
        now: Timestamp
    ) async throws -> (device: DeviceRecord, isNew: Bool)
    /// In the order of their ids, those after `after`.
    func devices(app: Int64, audience: Audience, after: Int64, limit: Int) async throws -> [DeviceRecord]
    /// The devices with this token: one per environment at most.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// How many there were.
    func deleteDevices(app: Int64, token: DeviceToken, environment: PushEnvironment?) async throws -> Int
}

/// The ledger: notifications, their recipients' final states, and what waits for another try.
package protocol NotificationStore: Sendable {
    func accept(_ notification: NotificationRecord, idempotency: Idempotency?) async throws -> Acceptance
    func notification(_ id: UUID) async throws -> NotificationRecord?
    /// A notification whose audience has not been walked to its end, leased to the caller until `until`: one that has not
    /// begun, else the one whose last page is longest ago, so that none waits for another to end.
    func claim(now: Timestamp, until: Timestamp) async throws -> NotificationRecord?
    /// Gives back every lease: for the start of the only process that uses the store.
    func releaseLeases() async throws
    /// The next recipients after the notification's cursor: active devices of its environment, or the named tokens.
    func recipients(of notification: NotificationRecord, limit: Int) async throws -> RecipientPage
    /// Recipients whose next try is due, of one notification, and that notification.
    func dueRetries(now: Timestamp, limit: Int) async throws -> (NotificationRecord, [Recipient])?
    /// When the next try is due.
    func nextRetry() async throws -> Timestamp?
    /// Writes a page's results, counters, findings and cursor in one transaction, and gives the lease back. A recipient
    /// that has a final state already keeps it.
    func commit(_ page: PageResult, notification: UUID, now: Timestamp) async throws
    /// In the order of recipients, those after `after`.
    func deliveries(of notification: UUID, after: Int64?, limit: Int) async throws -> [DeliveryRecord]
}

/// API keys, by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Whether it was there.
    func deleteKey(_ id: UUID) async throws -> Bool
}

/// Why a store cannot be used.
package enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotOpen(path: String, why: String)
    /// Written by a newer version.
    case newerSchema(path: String)
    case badMasterKey(path: String, why: String)
    /// A secret in the store was sealed with another master key.
    case wrongMasterKey

    package var description: String {
        switch self {
        case .cannotOpen(let path, let why): "the database \(path) cannot be used: \(why)"
        case .newerSchema(let path): "the database \(path) was written by a newer version of Martlet"
        case .badMasterKey(let path, let why): "the master key \(path) cannot be used: \(why)"
        case .wrongMasterKey: "the master key does not fit this database: bring back the one it was made with"
        }
    }
}
