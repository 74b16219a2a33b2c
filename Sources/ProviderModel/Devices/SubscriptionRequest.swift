import PushSupport
import PushTypes
import PushWire

/// Reads a browser's subscription from a request to register it.
enum SubscriptionRequest {
    /// The schema of a key of a subscription, in base64 or base64url.
    private static let key = Schema.string(length: 1...128, pattern: "^[A-Za-z0-9+/_=-]+$")
    private static let endpoint = Schema.string(
        length: 1...WebPushSubscription.maximumEndpoint,
        pattern: "^https://[^\\s]+$"
    )
    private static let keys = Schema.object(required: [("p256dh", Self.key), ("auth", Self.key)])

    /// A browser's subscription in the form of its `toJSON()`.
    static let subscription = Member.json(
        "subscription",
        as: .object(required: [("endpoint", Self.endpoint), ("keys", Self.keys)], isOpen: true)
            .described("The browser's subscription, of a device of the kind web.")
            .named("Subscription")
    )

    /// The public VAPID key of a subscription.
    static let vapidKey = Member.text(
        "vapidKey",
        maximum: 128,
        as: .string(length: 86...128, pattern: "^[A-Za-z0-9_=-]+$")
    )
    .described("The applicationServerKey of the subscription. Default the app's newest, or the stored one.")
    .parsed("invalid_value", "the applicationServerKey of the subscription is required here, in base64url") {
        text -> [UInt8]? in
        Base64URL.decode(text).flatMap { $0.count == WebPushKeys.publicLength ? Array($0) : nil }
    }

    /// Returns the subscription of a registration, or `nil` for a token of another kind.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func read(_ fields: JSONFields) throws(RequestError) -> SubscriptionRegistration? {
        let isWeb = try fields.value(DeviceRequest.Members.kind) == .web
        guard let json = try fields.value(Self.subscription) else {
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
        guard try fields.value(DeviceRequest.Members.environment) ?? .production == .production else {
            throw fields.error("environment", "conflicting_field", "a subscription has none: leave this out")
        }
        guard fields.members["token"] == nil else {
            throw fields.error("token", "conflicting_field", "a device with a subscription has no other token")
        }
        let path = fields.place.map { "\($0).subscription" } ?? "subscription"
        var registration = SubscriptionRegistration(try WebPushSubscription(json, at: path))
        registration.vapidKey = try fields.value(Self.vapidKey)
        return registration
    }
}

extension WebPushSubscription {
    /// Returns the device token that stands for the subscription, a hash of its URL.
    func token(_ fields: JSONFields) throws(RequestError) -> DeviceToken {
        guard let token = try? self.token else {
            throw fields.error("subscription", "invalid_subscription", "it has no token")
        }
        return token
    }
}
