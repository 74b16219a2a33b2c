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
    /// The app's id of the Live Activity to which the token belongs, or `nil` for other kinds.
    package var activity: String?
    package var profile: DeviceProfile
    /// A Boolean value that indicates whether the push service still accepts the token, as far as is known. A device
    /// that is not active receives nothing until it registers again, or an operator reactivates it.
    package var isActive: Bool
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
    /// The id of the installation, chosen by the app, or `nil` for none. With an id, a changed token replaces the old
    /// one of its kind, and the tokens of all kinds share the profile.
    package var installation: String?
    /// The notification types that the user allows and the app supports.
    package var capabilities: DeviceCapabilities = []
    package var tags: Set<BytewiseString> = []
    /// The attributes: texts, numbers and Booleans.
    package var attributes: [String: JSONValue] = [:]
    package var preferences = Preferences()
    /// The key to which content is encrypted: the newest one that the installation has registered, or `nil` for none.
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

/// A period in which a device belonged to a user.
package struct UserPeriod: Hashable, Sendable {
    package var device: Int64
    /// The beginning, which is the end of the period before, or `nil` for a device that had no other user before.
    package var since: Timestamp?
    /// The end of the period, or `nil` while the device belongs to the user.
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
