import PushStore
import PushSupport
import PushTypes
import PushWire

/// Reads a browser's subscription from a request to register it.
enum SubscriptionRequest {
    /// Returns the subscription of a registration; `nil` for a token of another kind.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func read(_ fields: JSONFields) throws(RequestError) -> SubscriptionRegistration? {
        let isWeb = try fields.tokenKind("kind") == .web
        guard let json = fields.members["subscription"] else {
            guard !isWeb else {
                let message = "a device of the kind web has the browser's subscription in place of a token"
                throw fields.error("subscription", "missing_field", message)
            }
            guard fields.members["vapidKey"] == nil else {
                throw fields.error("vapidKey", "conflicting_field", "only a browser's subscription has one")
            }
            return nil
        }
        guard isWeb || fields.members["kind"] == nil else {
            throw fields.error("kind", "conflicting_field", "a device with a subscription is of the kind web")
        }
        guard try fields.environment("environment") ?? .production == .production else {
            throw fields.error("environment", "conflicting_field", "a subscription has none: leave this out")
        }
        guard fields.members["token"] == nil else {
            throw fields.error("token", "conflicting_field", "a device with a subscription has no other token")
        }
        let path = fields.place.map { "\($0).subscription" } ?? "subscription"
        var registration = SubscriptionRegistration(try WebPushSubscription(json, at: path))
        if let text = try fields.string("vapidKey", maximum: 128) {
            guard let key = Base64URL.decode(text), key.count == WebPushKeys.publicLength else {
                let message = "the applicationServerKey of the subscription is required here, in base64url"
                throw fields.error("vapidKey", "invalid_value", message)
            }
            registration.vapidKey = Array(key)
        }
        return registration
    }
}

extension WebPushSubscription {
    /// Returns the token of the device that the subscription is.
    func token(_ fields: JSONFields) throws(RequestError) -> DeviceToken {
        guard let token = try? self.token else {
            throw fields.error("subscription", "invalid_subscription", "it has no token")
        }
        return token
    }
}
