package import Foundation
package import PushTypes
package import PushWire

/// A browser's subscription in a registration.
package struct SubscriptionRegistration: Hashable, Sendable {
    package var subscription: WebPushSubscription
    /// The public VAPID key of the subscription; `nil` for the key that is stored with it, or else the app's newest
    /// one.
    package var vapidKey: [UInt8]?

    package init(_ subscription: WebPushSubscription, vapidKey: [UInt8]? = nil) {
        (self.subscription, self.vapidKey) = (subscription, vapidKey)
    }
}

/// A browser's subscription as it is stored.
package struct SubscriptionRecord: Hashable, Sendable {
    package var subscription: WebPushSubscription
    /// The id of the subscription's VAPID key; `nil` for the app's newest one.
    package var vapidKey: UUID?

    package init(subscription: WebPushSubscription, vapidKey: UUID?) {
        (self.subscription, self.vapidKey) = (subscription, vapidKey)
    }
}

/// A key pair by which an app identifies itself to browsers' push services (RFC 8292). New subscriptions are made with
/// the app's newest key.
package struct VAPIDKeyRecord: Hashable, Sendable {
    /// The maximum number of keys of an app. Keys of existing subscriptions are kept, so a further key is rejected.
    package static let maximumCount = 10

    package var id: UUID
    package var app: Int64
    /// The public key, 65 bytes.
    package var publicKey: [UInt8]
    /// The private key, 32 bytes. The store seals it with the master key.
    package var privateKey: [UInt8]
    /// The contact of the sender, a `mailto:` or `https:` URL. All keys of an app have the same.
    package var contact: String
    package var createdAt: Timestamp

    package init(
        id: UUID = UUID(),
        app: Int64,
        publicKey: [UInt8],
        privateKey: [UInt8],
        contact: String,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.publicKey, self.privateKey) = (id, app, publicKey, privateKey)
        (self.contact, self.createdAt) = (contact, createdAt)
    }
}
