package import PushSupport
package import PushTypes

/// A registration by an app. A property that is `nil` keeps its stored value.
package struct DeviceRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var token: DeviceToken
    /// The kind of the token, or `nil` for the stored kind, which is alert for a new token.
    package var kind: DeviceTokenKind?
    /// The app's id of the Live Activity to which the token belongs, or `nil` for other kinds.
    package var activity: String?
    package var user, locale, timeZone, appVersion: Update<String>?
    package var installation: String?
    package var capabilities: DeviceCapabilities?
    /// The new tags, which replace those that match ``ownTags`` (all, if that is `nil`), or `nil` to keep the tags.
    package var tags: Set<BytewiseString>?
    /// The attributes to set or remove. Other attributes are kept.
    package var attributes: [String: Update<JSONValue>] = [:]
    package var preferences: Update<Preferences>?
    package var encryptionKey: Update<InstallationPublicKey>?
    /// The browser's subscription of a token of the kind web, or `nil` for other kinds.
    package var subscription: SubscriptionRegistration?
    /// The patterns of the tags that ``tags`` replaces, or `nil` for all tags. Other tags of the device are kept.
    package var ownTags: NamePatterns?
    /// The patterns of the attributes that are removed before ``attributes`` are set, or `nil` if none are removed.
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

    /// The device's id, or 0 for a new device whose registration was rejected.
    package var device: Int64
    package var kind: Kind
    /// The ids of the installation's devices that lost their user, got other preferences, or were removed because their
    /// Live Activities were the oldest of too many. Copies of them in memory are out of date.
    package var outdated: [Int64] = []

    package init(device: Int64, kind: Kind, outdated: [Int64] = []) {
        (self.device, self.kind, self.outdated) = (device, kind, outdated)
    }

    package var isRejected: Bool { if case .rejected = self.kind { true } else { false } }
}
