import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushWire

/// Checks Web Push subscriptions of browsers before they are stored.
struct SubscriptionValidator: Sendable {
    let store: any WebPushStore
    let addresses: AddressPolicy

    /// Checks the Web Push subscription of a registration. A registration without one passes.
    /// - Parameter path: The path of the registration in the request, ending with a dot, or an empty string for the
    ///   body itself.
    /// - Throws: ``RequestError`` for a URL that the policy rejects, and if the app lacks the VAPID key for which the
    ///   subscription was created.
    func check(_ registration: DeviceRegistration, app: Int64, at path: String = "") async throws {
        guard let wanted = registration.subscription else { return }
        do throws(RequestError) {
            _ = try WebhookAddress(wanted.subscription.endpoint, policy: self.addresses)
        } catch {
            var error = error
            error.path = "\(path)subscription.endpoint"
            throw error
        }
        let keys = try await self.store.vapidKeys(app: app)
        guard !keys.isEmpty else { throw RequestError.noVAPIDKey }
        if let key = wanted.vapidKey, !keys.contains(where: { $0.publicKey == key }) {
            let message = "the app has no such VAPID key: subscribe with the one of GET /v1/apps/{app}/vapid"
            throw RequestError(.invalid, code: "unknown_vapid_key", message: message, path: "\(path)vapidKey")
        }
    }
}
