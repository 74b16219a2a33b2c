package import PushSupport
package import PushTypes

/// An app on a device, as it registered.
package struct DeviceRecord: Hashable, Sendable {
    /// Rises with registration: broadcasts walk the devices in this order.
    package var id: Int64
    package var environment: PushEnvironment
    package var token: DeviceToken
    package var profile: DeviceProfile
    /// `false` once the push service said that the token is dead.
    package var isActive: Bool
    /// The first registration.
    package var createdAt: Timestamp
    /// The latest registration: a 410 that is older does not count (reference 7.7).
    package var registeredAt: Timestamp
    /// How often the push service called the token bad since the last success.
    package var suspicions: Int

    package init(
        id: Int64,
        environment: PushEnvironment,
        token: DeviceToken,
        profile: DeviceProfile,
        isActive: Bool,
        createdAt: Timestamp,
        registeredAt: Timestamp,
        suspicions: Int
    ) {
        self.id = id
        self.environment = environment
        self.token = token
        self.profile = profile
        self.isActive = isActive
        self.createdAt = createdAt
        self.registeredAt = registeredAt
        self.suspicions = suspicions
    }
}

/// What is known of a device besides its token.
package struct DeviceProfile: Hashable, Sendable {
    package var user: String?
    package var locale: String?
    package var timeZone: String?
    package var appVersion: String?
    /// An id of the installation, chosen by the app: with it a changed token replaces the old one.
    package var installation: String?
    /// What the user allows, and what the app can do.
    package var capabilities: DeviceCapabilities = []
    package var tags: Set<String> = []
    /// Texts, numbers and truth values.
    package var attributes: [String: JSONValue] = [:]

    package init() {}
}

/// The notification-type bits of the publisher's registration (reference 10.1), which iOS had as well.
package struct DeviceCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package static let badge = DeviceCapabilities(rawValue: 1)
    package static let sound = DeviceCapabilities(rawValue: 2)
    package static let alert = DeviceCapabilities(rawValue: 4)
    package static let newsstand = DeviceCapabilities(rawValue: 8)
}

/// What an app says when it registers. What is `nil` keeps the value it had.
package struct DeviceRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var token: DeviceToken
    package var user: Update<String>?
    package var locale: Update<String>?
    package var timeZone: Update<String>?
    package var appVersion: Update<String>?
    package var installation: String?
    package var capabilities: DeviceCapabilities?
    /// All tags from now on.
    package var tags: Set<String>?
    /// Attributes to set or remove; the others stay.
    package var attributes: [String: Update<JSONValue>] = [:]

    package init(environment: PushEnvironment, token: DeviceToken) {
        self.environment = environment
        self.token = token
    }
}

/// A new value, or none from now on.
package enum Update<Value: Hashable & Sendable>: Hashable, Sendable {
    case set(Value)
    case clear

    package var value: Value? {
        if case .set(let value) = self { value } else { nil }
    }
}

/// What a registration did.
package struct RegistrationResult: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case added
        case refreshed
        /// The installation was known with another token, which is gone now.
        case tokenReplaced
        /// Nothing was stored: the device would hold more than it may.
        case refused(DeviceExcess)
    }

    /// 0 for a device that was not known and was refused.
    package var device: Int64
    package var kind: Kind

    package init(device: Int64, kind: Kind) {
        self.device = device
        self.kind = kind
    }
}
