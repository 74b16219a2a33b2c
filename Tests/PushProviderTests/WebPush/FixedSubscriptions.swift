import ProviderModel
import PushStore
import PushTesting
import PushTypes
import PushWire
import Synchronization

@testable import PushProvider

/// The keys and subscriptions of a test, which are the same for all apps.
final class FixedSubscriptions: WebPushStore {
    struct Down: Error {}

    let key = VAPIDKey()
    private let known = Mutex<[DeviceToken: SubscriptionRecord]>([:])
    private let isDown = Mutex(false)

    func add(_ browser: Browser) throws -> DeviceToken {
        let subscription = try WebPushSubscription(browser.subscription, at: "subscription")
        let token = try subscription.token
        self.known.withLock { $0[token] = SubscriptionRecord(subscription: subscription, vapidKey: nil) }
        return token
    }

    func fail() { self.isDown.withLock { $0 = true } }

    func vapidKeys(app: Int64) async throws -> [VAPIDKeyRecord] {
        [
            VAPIDKeyRecord(
                app: app,
                publicKey: self.key.publicKey,
                privateKey: self.key.privateKey,
                contact: "mailto:ops@example.org",
                createdAt: Vectors.issuedAt
            )
        ]
    }

    func addVAPIDKey(_ key: VAPIDKeyRecord) async throws -> Bool { false }
    func setVAPIDContact(_ contact: String, app: Int64) async throws -> Bool { false }

    func subscriptions(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: SubscriptionRecord] {
        if self.isDown.withLock({ $0 }) { throw Down() }
        return self.known.withLock { known in known.filter { tokens.contains($0.key) } }
    }
}
