package import Foundation
package import ProviderModel
package import PushTypes

/// The store of the data for sending to browsers: the VAPID keys of apps, and the subscriptions.
///
/// A subscription is added with the registration of its device (``DeviceRegistration/subscription``), and is removed
/// when no device has its token any more.
package protocol WebPushStore: Sendable {
    /// Returns the VAPID keys of an app, newest first. Keys that cannot be opened are left out.
    func vapidKeys(app: Int64) async throws -> [VAPIDKeyRecord]
    /// Adds a VAPID key, which becomes the newest. Keys without subscriptions are removed, except the previously newest
    /// one, because a browser may just be registering with it.
    /// - Returns: `true`, or `false` if the app already has ``VAPIDKeyRecord/maximumCount`` keys in use.
    func addVAPIDKey(_ key: VAPIDKeyRecord) async throws -> Bool
    /// Changes the sender's contact address for all VAPID keys of an app.
    /// - Returns: `true`, or `false` if the app has no VAPID key.
    func setVAPIDContact(_ contact: String, app: Int64) async throws -> Bool
    /// Returns the subscriptions of tokens. Subscriptions that are not stored or cannot be opened are left out.
    func subscriptions(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: SubscriptionRecord]
}

/// The store for receiving Web Push messages: installations' push resources, and messages waiting to be fetched.
package protocol PushResourceStore: Sendable {
    /// Adds a push resource, an address for senders, if the installation has an active device with a token for alerts.
    func addPushResource(_ resource: PushResourceRecord) async throws -> PushResourceAdditionResult
    /// Returns the push resources of an installation, oldest first. Damaged push resources are left out.
    func pushResources(app: Int64, installation: String) async throws -> [PushResourceRecord]
    /// Removes a push resource of an installation, together with its messages.
    /// - Returns: `true`, or `false` if the installation has no push resource with this id.
    func removePushResource(_ id: UUID, app: Int64, installation: String) async throws -> Bool
    /// Returns the push resource with this hash and the device that gets its messages, or `nil` if there is none.
    func pushResourceTarget(hash: [UInt8]) async throws -> PushResourceTarget?
    /// Sets the URL that the provider calls when the push resource is removed for want of a device.
    func setUnsubscribeURL(_ url: String, of resource: PushResourceRecord) async throws
    /// Returns push resources whose installations no longer have an active device for alerts, the oldest of each app.
    /// - Parameter count: The maximum number of push resources per app.
    func endedPushResources(perApp count: Int) async throws -> [PushResourceRecord]
    /// Removes push resources without a device, unless their installations have an active device again.
    func removeEnded(_ resources: [PushResourceRecord]) async throws
    /// Stores a message until it is fetched or expires. It replaces an earlier message with the same topic. Of more
    /// than ``PushMessageRecord/maximumCount`` messages for a push resource, the oldest are removed.
    func addPushMessage(_ message: PushMessageRecord) async throws
    /// Returns the message with this id, or `nil` if there is none or if it has expired.
    func pushMessage(_ id: UUID, now: Timestamp) async throws -> PushMessageRecord?
    /// Removes up to `limit` messages that have expired.
    /// - Returns: The number of removed messages.
    func removePushMessages(expiredAt now: Timestamp, limit: Int) async throws -> Int
}

/// The result of adding a push resource.
package enum PushResourceAdditionResult: Hashable, Sendable {
    case added
    /// A refusal because the installation has no active device for alerts.
    case noDevice
    /// A refusal because the installation already has ``PushResourceRecord/maximumCount`` push resources.
    case tooMany
}
