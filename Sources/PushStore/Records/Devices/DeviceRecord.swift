package import PushSupport
package import PushTypes

/// A registration of an app by one device, with one token.
///
/// An installation has one device for each kind of token, and one for each Live Activity. They share their profile.
package struct DeviceRecord: Hashable, Sendable {
    /// The device's id. Ids rise with the first registration, and shards are read in their order.
    package var id: Int64
    package var environment: PushEnvironment
    package var token: DeviceToken
    package var kind: DeviceTokenKind = .alert
    /// The app's id of the Live Activity to which the token belongs; `nil` for other kinds.
    package var activity: String?
    package var profile: DeviceProfile
    /// Is `false` once the push service has called the token invalid.
    package var isActive: Bool
    /// The time of the first registration.
    package var createdAt: Timestamp
    /// The time of the latest registration. A response 410 with an earlier time does not count (reference 7.7).
    package var registeredAt: Timestamp
    /// The number of times that the push service called the token bad since the last accepted push.
    package var suspicions: Int
}

/// The properties of a device besides its token.
package struct DeviceProfile: Hashable, Sendable {
    package var user, locale, timeZone, appVersion: String?
    /// The id of the installation, chosen by the app. With it a changed token replaces the old one of its kind, and the
    /// tokens of all kinds share the profile.
    package var installation: String?
    /// The notification types that the user allows and the app supports.
    package var capabilities: DeviceCapabilities = []
    package var tags: Set<BytewiseString> = []
    /// The attributes: texts, numbers and truth values.
    package var attributes: [String: JSONValue] = [:]
    package var preferences = Preferences()
    /// The key to which encrypted content is sealed: the newest that the installation has registered.
    package var encryptionKey: InstallationPublicKey?
}

/// The notification-type bits of the publisher's registration (reference 10.1), which iOS had as well.
package struct DeviceCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let badge = DeviceCapabilities(rawValue: 1)
    package static let sound = DeviceCapabilities(rawValue: 2)
    package static let alert = DeviceCapabilities(rawValue: 4)
    package static let newsstand = DeviceCapabilities(rawValue: 8)
    /// The app runs in the background for a push, which the publisher's registration did not know.
    package static let background = DeviceCapabilities(rawValue: 16)
}

/// A registration by an app. A property that is `nil` keeps its stored value.
package struct DeviceRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var token: DeviceToken
    /// The kind of the token; `nil` for the kind that is stored, or alert for a new token.
    package var kind: DeviceTokenKind?
    /// The app's id of the Live Activity to which the token belongs.
    package var activity: String?
    package var user, locale, timeZone, appVersion: Update<String>?
    package var installation: String?
    package var capabilities: DeviceCapabilities?
    /// The tags that replace all earlier ones.
    package var tags: Set<BytewiseString>?
    /// The attributes to set or remove. The others stay.
    package var attributes: [String: Update<JSONValue>] = [:]
    package var preferences: Update<Preferences>?
    package var encryptionKey: Update<InstallationPublicKey>?
    /// The browser's subscription of a token of the kind web.
    package var subscription: SubscriptionRegistration?
    /// The tags that ``tags`` replaces; `nil` for all. The device keeps others that it has.
    package var ownTags: NamePatterns?
    /// The attributes that are removed before ``attributes`` are set; `nil` for none.
    package var clearedAttributes: NamePatterns?

    package init(environment: PushEnvironment, token: DeviceToken) {
        (self.environment, self.token) = (environment, token)
    }
}

/// The result of a registration.
package struct RegistrationResult: Hashable, Sendable {
    /// The effect of a registration.
    package enum Kind: Hashable, Sendable {
        case added, refreshed
        /// The installation had another token, which this one replaces.
        case tokenReplaced
        /// Nothing was stored: the device would exceed a bound.
        case rejected(ExceededDeviceBound)
    }

    /// The device's id; 0 for a new device whose registration was rejected.
    package var device: Int64
    package var kind: Kind
    /// The other devices of the installation, which got what the registration names.
    package var siblings: [Int64] = []
    /// The devices of the installation that lost their user or got other preferences. What was read of them before does not
    /// hold any more.
    package var outdated: [Int64] = []

    /// Returns `true` if nothing was stored.
    var isRejected: Bool { if case .rejected = self.kind { true } else { false } }
}
