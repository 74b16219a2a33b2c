package import Foundation
package import ProviderModel
package import PushTypes

/// The data for sending to browsers: the VAPID keys of apps, and the subscriptions.
///
/// A subscription is added with the registration of its device (``DeviceRegistration/subscription``), and is removed when no
/// device has its token any more.
package protocol WebPushStore: Sendable {
    /// Returns the keys of an app, newest first. A key that cannot be opened is left out.
    func vapidKeys(app: Int64) async throws -> [VAPIDKeyRecord]
    /// Adds a key, which becomes the newest. Keys without subscriptions are removed, except the previous newest one, because
    /// registrations with it may be on their way.
    /// - Returns: `false` if the app has ``VAPIDKeyRecord/maximumCount`` keys in use, and nothing was changed.
    func addVAPIDKey(_ key: VAPIDKeyRecord) async throws -> Bool
    /// Changes the contact of the sender for all keys of an app.
    /// - Returns: `false` if the app has no key.
    func setVAPIDContact(_ contact: String, app: Int64) async throws -> Bool
    /// Returns the subscriptions of tokens. Subscriptions that are not stored or cannot be opened are left out.
    func subscriptions(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: SubscriptionRecord]
}

/// The data for receiving Web Push for apps: the push resources of installations, and messages to be fetched.
package protocol PushResourceStore: Sendable {
    /// Adds a push resource if its installation has a device of the kind alert.
    func addPushResource(_ resource: PushResourceRecord) async throws -> PushResourceAdditionResult
    /// Returns the push resources of an installation, oldest first. Damaged ones are left out.
    func pushResources(app: Int64, installation: String) async throws -> [PushResourceRecord]
    /// Removes a push resource of an installation, with its messages.
    /// - Returns: `false` if the installation has none with this id.
    func removePushResource(_ id: UUID, app: Int64, installation: String) async throws -> Bool
    /// Returns the push resource whose secret has this hash, with its installation's device of the kind alert; `nil` if there
    /// is no such resource, or no active device.
    func pushResourceTarget(hash: [UInt8]) async throws -> PushResourceTarget?
    /// Sets the URL to be called when the push resource ends.
    func setUnsubscribeURL(_ url: String, of resource: PushResourceRecord) async throws
    /// Returns push resources whose installations have no active device of the kind alert: the oldest ones of each app, with
    /// the apps in turn.
    /// - Parameter count: The maximum number of push resources of one app.
    func endedPushResources(perApp count: Int) async throws -> [PushResourceRecord]
    /// Removes push resources that have ended, if their installations still have no active device.
    func removeEnded(_ resources: [PushResourceRecord]) async throws
    /// Stores a message until it is fetched or expires. It replaces a message of the same topic.
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
    /// The installation has no device of the kind alert.
    case noDevice
    /// The installation has ``PushResourceRecord/maximumCount`` push resources.
    case tooMany
}
