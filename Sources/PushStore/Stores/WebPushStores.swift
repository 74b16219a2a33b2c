package import Foundation
package import PushTypes

/// The records for sending to browsers: the keys of apps, and the subscriptions.
///
/// A subscription is added with the registration of its device (``DeviceRegistration/subscription``), and is gone when no
/// device has its token any more.
package protocol WebPushStore: Sendable {
    /// Returns the keys of an app, the newest first. One that does not open is left out.
    func vapidKeys(app: Int64) async throws -> [VAPIDKeyRecord]
    /// Adds a key, which is the newest from now on. Keys that no subscription was made with are removed, except the one
    /// before: registrations with it may be on their way.
    /// - Returns: `false` if the app has ``VAPIDKeyRecord/maximumCount`` keys in use, and nothing was changed.
    func addVAPIDKey(_ key: VAPIDKeyRecord) async throws -> Bool
    /// Changes the address of whoever sends, for all keys of an app.
    /// - Returns: `false` if the app has no key.
    func setVAPIDContact(_ contact: String, app: Int64) async throws -> Bool
    /// Returns the subscriptions of tokens. Those that are not stored, or do not open, are left out.
    func subscriptions(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: SubscriptionRecord]
}

/// The records for receiving for apps: the addresses of installations, and messages that are fetched.
package protocol PushResourceStore: Sendable {
    /// Adds a push resource, if its installation has a device for alerts.
    func addPushResource(_ resource: PushResourceRecord) async throws -> PushResourceAdditionResult
    /// Returns the push resources of an installation, the oldest first. One that is damaged is left out.
    func pushResources(app: Int64, installation: String) async throws -> [PushResourceRecord]
    /// Removes a push resource of an installation, with its messages.
    /// - Returns: `false` if the installation has none with this id.
    func removePushResource(_ id: UUID, app: Int64, installation: String) async throws -> Bool
    /// Returns the push resource of a secret with the device for alerts of its installation; `nil` if there is no such
    /// resource, or no active device.
    func pushResourceTarget(hash: [UInt8]) async throws -> PushResourceTarget?
    /// Sets the URL at which the sender is told that the resource has ended.
    func setUnsubscribeURL(_ url: String, of resource: PushResourceRecord) async throws
    /// Returns push resources whose installations have no active device for alerts: the oldest of each app, those of all apps in
    /// turn.
    /// - Parameter count: The maximum number of those of one app.
    func endedPushResources(perApp count: Int) async throws -> [PushResourceRecord]
    /// Removes push resources that have ended, if their installations still have no active device.
    func removeEnded(_ resources: [PushResourceRecord]) async throws
    /// Keeps a message until it is fetched or expires. It replaces one of the same topic.
    func addPushMessage(_ message: PushMessageRecord) async throws
    /// Returns a message that has not expired; `nil` if there is none.
    func pushMessage(_ id: UUID, now: Timestamp) async throws -> PushMessageRecord?
    /// Removes messages that have expired, `limit` at most.
    /// - Returns: The number of removed messages.
    func removePushMessages(expiredAt now: Timestamp, limit: Int) async throws -> Int
}

/// The result of adding a push resource.
package enum PushResourceAdditionResult: Hashable, Sendable {
    case added
    /// The installation has no device for alerts.
    case noDevice
    /// The installation has ``PushResourceRecord/maximumCount``.
    case tooMany
}
