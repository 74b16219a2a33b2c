package import Foundation
package import PushWire

/// A browser's subscription in a registration.
package struct SubscriptionRegistration: Hashable, Sendable {
    package var subscription: WebPushSubscription
    /// The public VAPID key of the subscription, or `nil` for its stored one or, without it, the app's newest one.
    package var vapidKey: [UInt8]?

    package init(_ subscription: WebPushSubscription, vapidKey: [UInt8]? = nil) {
        (self.subscription, self.vapidKey) = (subscription, vapidKey)
    }
}

/// A browser's subscription as it is stored.
package struct SubscriptionRecord: Hashable, Sendable {
    package var subscription: WebPushSubscription
    /// The id of the subscription's VAPID key, or `nil` for the app's newest one.
    package var vapidKey: UUID?

    package init(subscription: WebPushSubscription, vapidKey: UUID?) {
        (self.subscription, self.vapidKey) = (subscription, vapidKey)
    }
}
