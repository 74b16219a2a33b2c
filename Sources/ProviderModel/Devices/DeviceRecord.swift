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
    /// `false` once the push service has called the token invalid. The device then receives nothing until it registers
    /// again, or an operator reactivates it.
    package var isActive: Bool
    /// The time of the first registration.
    package var createdAt: Timestamp
    /// The time of the latest registration. A response 410 with an earlier time does not count (reference 7.7).
    package var registeredAt: Timestamp
    /// The number of times that the push service called the token bad since the last accepted push, which resets it to
    /// 0. A device with more than 0 is listed as suspected.
    package var suspicions: Int

    package init(
        id: Int64,
        environment: PushEnvironment,
        token: DeviceToken,
        kind: DeviceTokenKind = .alert,
        activity: String? = nil,
        profile: DeviceProfile,
        isActive: Bool,
        createdAt: Timestamp,
        registeredAt: Timestamp,
        suspicions: Int
    ) {
        (self.id, self.environment, self.token, self.kind) = (id, environment, token, kind)
        (self.activity, self.profile, self.isActive, self.createdAt) = (activity, profile, isActive, createdAt)
        (self.registeredAt, self.suspicions) = (registeredAt, suspicions)
    }
}

/// The properties of a device besides its token, which the devices of an installation share.
package struct DeviceProfile: Hashable, Sendable {
    package var user, locale, timeZone, appVersion: String?
    /// The id of the installation, chosen by the app; `nil` for none. With it a changed token replaces the old one of
    /// its kind, and the tokens of all kinds share the profile.
    package var installation: String?
    /// The notification types that the user allows and the app supports.
    package var capabilities: DeviceCapabilities = []
    package var tags: Set<BytewiseString> = []
    /// The attributes: texts, numbers and Booleans.
    package var attributes: [String: JSONValue] = [:]
    package var preferences = Preferences()
    /// The key to which content is encrypted: the newest one that the installation has registered; `nil` for none.
    package var encryptionKey: InstallationPublicKey?

    package init(
        user: String? = nil,
        locale: String? = nil,
        timeZone: String? = nil,
        appVersion: String? = nil,
        installation: String? = nil,
        capabilities: DeviceCapabilities = [],
        tags: Set<BytewiseString> = [],
        attributes: [String: JSONValue] = [:],
        preferences: Preferences = Preferences(),
        encryptionKey: InstallationPublicKey? = nil
    ) {
        (self.user, self.locale, self.timeZone, self.appVersion) = (user, locale, timeZone, appVersion)
        (self.installation, self.capabilities, self.tags) = (installation, capabilities, tags)
        (self.attributes, self.preferences, self.encryptionKey) = (attributes, preferences, encryptionKey)
    }
}

/// The notification types that a user allows. The raw values are the bits of the publisher's registration (reference
/// 10.1).
package struct DeviceCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let badge = DeviceCapabilities(rawValue: 1)
    package static let sound = DeviceCapabilities(rawValue: 2)
    package static let alert = DeviceCapabilities(rawValue: 4)
    package static let newsstand = DeviceCapabilities(rawValue: 8)
    /// The app can be woken in the background by a push. The publisher's registration has no such bit.
    package static let background = DeviceCapabilities(rawValue: 16)
}

/// A registration by an app. A property that is `nil` keeps its stored value.
package struct DeviceRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var token: DeviceToken
    /// The kind of the token; `nil` for the kind that is stored, or alert for a new token.
    package var kind: DeviceTokenKind?
    /// The app's id of the Live Activity to which the token belongs; `nil` for other kinds.
    package var activity: String?
    package var user, locale, timeZone, appVersion: Update<String>?
    package var installation: String?
    package var capabilities: DeviceCapabilities?
    /// The tags that replace all earlier ones, or those that match ``ownTags``; `nil` to keep the tags.
    package var tags: Set<BytewiseString>?
    /// The attributes to set or remove. Other attributes are kept.
    package var attributes: [String: Update<JSONValue>] = [:]
    package var preferences: Update<Preferences>?
    package var encryptionKey: Update<InstallationPublicKey>?
    /// The browser's subscription of a token of the kind web; `nil` for other kinds.
    package var subscription: SubscriptionRegistration?
    /// The patterns of the tags that ``tags`` replaces; `nil` for all tags. Other tags of the device are kept.
    package var ownTags: NamePatterns?
    /// The patterns of the attributes that are removed before ``attributes`` are set; `nil` for none.
    package var clearedAttributes: NamePatterns?

    package init(environment: PushEnvironment, token: DeviceToken) {
        (self.environment, self.token) = (environment, token)
    }
}

/// The result of a registration.
package struct RegistrationResult: Hashable, Sendable {
    /// The effect of a registration on the stored device.
    package enum Kind: Hashable, Sendable {
        case added, refreshed
        /// The result of a registration whose token replaced another token of the installation.
        case tokenReplaced
        /// The result of a registration that was not stored, because the device would exceed a limit.
        case rejected(ExceededDeviceLimit)
    }

    /// The device's id; 0 for a new device whose registration was rejected.
    package var device: Int64
    package var kind: Kind
    /// The other devices of the installation, to which the profile was copied.
    package var siblings: [Int64] = []
    /// The devices of the installation that lost their user or got other preferences. Copies of them in memory are out
    /// of date.
    package var outdated: [Int64] = []

    package init(device: Int64, kind: Kind, siblings: [Int64] = [], outdated: [Int64] = []) {
        (self.device, self.kind, self.siblings, self.outdated) = (device, kind, siblings, outdated)
    }

    /// Returns `true` if nothing was stored.
    package var isRejected: Bool { if case .rejected = self.kind { true } else { false } }
}

/// A period in which a device belonged to a user.
package struct UserPeriod: Hashable, Sendable {
    package var device: Int64
    /// The beginning, which is the end of the period before; `nil` for a device that had no other user before.
    package var since: Timestamp?
    /// The end of the period; `nil` while the device belongs to the user.
    package var until: Timestamp?

    package init(device: Int64, since: Timestamp? = nil, until: Timestamp? = nil) {
        (self.device, self.since, self.until) = (device, since, until)
    }

    /// Returns the tokens of a user's devices, each with the beginning of the device's current period with the user.
    /// The time is `nil` if the device had no other user before, or if no period is known.
    package static func tokens(of devices: [DeviceRecord], _ periods: [UserPeriod]) -> [DeviceToken: Timestamp?] {
        let since = Dictionary(periods.filter { $0.until == nil }.map { ($0.device, $0.since) }) { $1 }
        return Dictionary(devices.map { ($0.token, since[$0.id] ?? nil) }) { $1 }
    }
}

/// The conditions on the devices of a list. A device must meet all of them; `nil` accepts any value.
package struct DeviceSearch: Hashable, Sendable {
    /// The states of a device.
    package enum State: String, Hashable, Sendable, CaseIterable {
        case active
        case inactive
        /// An active device whose token the push service has called bad since the last accepted push.
        case suspected
    }

    /// The minimum length of ``tokenPrefix``, in bytes.
    package static let minimumPrefix = 2

    package var app: Int64
    /// The first bytes of the devices' tokens; `nil` for any.
    package var tokenPrefix: [UInt8]?
    package var user: String?
    package var installation: String?
    package var tag: String?
    package var environment: PushEnvironment?
    package var kind: DeviceTokenKind?
    package var state: State?

    package init(app: Int64) { self.app = app }

    /// A Boolean value that indicates whether the search names a token prefix, a user or an installation. It then
    /// matches so few devices that they can be sorted for each page.
    package var isNarrow: Bool { self.tokenPrefix != nil || self.user != nil || self.installation != nil }
}

/// The order of a list of devices. Each order has an index.
package enum DeviceSort: String, Hashable, Sendable, CaseIterable {
    /// The order by the first registration, oldest first.
    case oldest
    /// The order by the first registration, newest first.
    case newest
    /// The order by the latest registration, newest first.
    case lastSeen
    /// The order by the bytes of the user's id. Devices without a user are left out.
    case user
    case token
}
