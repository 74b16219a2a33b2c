package import PushProtocol

/// An app on a device, as it registered.
package struct DeviceRecord: Hashable, Sendable {
    /// Rises with registration: broadcasts walk the devices in this order.
    package var id: Int64
    package var environment: PushEnvironment
    package var token: DeviceToken
    package var user: String?
    package var locale: String?
    package var timeZone: String?
    package var tags: Set<String>
    /// `false` once the push service said that the token is dead.
    package var isActive: Bool
    /// The latest registration: a 410 that is older does not count (reference 7.7).
    package var registeredAt: Timestamp
    /// How often the push service called the token bad since the last success.
    package var suspicions: Int

    package init(
        id: Int64,
        environment: PushEnvironment,
        token: DeviceToken,
        user: String?,
        locale: String?,
        timeZone: String?,
        tags: Set<String>,
        isActive: Bool,
        registeredAt: Timestamp,
        suspicions: Int
    ) {
        self.id = id
        self.environment = environment
        self.token = token
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
        self.tags = tags
        self.isActive = isActive
        self.registeredAt = registeredAt
        self.suspicions = suspicions
    }
}

/// What an app says when it registers. What is `nil` keeps the value it had.
package struct DeviceRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var token: DeviceToken
    package var user: String?
    /// The user has left this device: forget who it was.
    package var clearsUser = false
    package var locale: String?
    package var timeZone: String?
    package var tags: Set<String>?

    package init(
        environment: PushEnvironment,
        token: DeviceToken,
        user: String? = nil,
        locale: String? = nil,
        timeZone: String? = nil,
        tags: Set<String>? = nil
    ) {
        self.environment = environment
        self.token = token
        self.user = user
        self.locale = locale
        self.timeZone = timeZone
        self.tags = tags
    }
}
