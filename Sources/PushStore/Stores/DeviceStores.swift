package import PushSupport
package import PushTypes

/// The devices: one per app, environment and token, and one per app, environment, installation, kind and activity.
package protocol DeviceStore: Sendable {
    /// Adds devices or refreshes them, in one transaction. What a registration leaves out stays as it was.
    /// - Parameter clocks: The wall clock dates the registration, and the later one what is kept of its changes.
    func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> [RegistrationResult]
    /// Adds or refreshes the device of an installation that registers itself.
    ///
    /// Whoever registers the token of another installation does not get its user.
    /// - Parameters:
    ///   - isProven: Whether the caller has shown that the installation is its own. Without that, only a token
    ///     that the installation has, in either environment, is accepted.
    ///   - clocks: The wall clock dates the registration, and the later one what is kept of its changes.
    /// - Returns: The result; `nil` if the installation has another token, and nothing was changed.
    func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> RegistrationResult?
    /// Returns devices in the order of their ids, beginning after `after`, with the inactive ones.
    ///
    /// Devices that cannot be read are left out. There are fewer than `limit` only when no more follow.
    /// - Parameters:
    ///   - environment: The environment of the devices; `nil` for both.
    ///   - kind: The kind of their tokens; `nil` for all.
    func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord]
    /// Returns a page of the devices that a search finds, in an order. Devices that cannot be read are left out.
    ///
    /// Also before its limit a page ends once its attributes and tags exceed a megabyte.
    func devices(
        _ search: DeviceSearch,
        sort: DeviceSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<DeviceRecord>
    /// Counts the devices that a search finds, up to ``ListTotal/maximum``.
    func totalDevices(_ search: DeviceSearch) async throws -> ListTotal
    /// Returns the devices with this token: one per environment at most.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// Deletes the devices with this token.
    /// - Parameter now: The later clock.
    /// - Returns: The ids of the deleted devices, with those that cannot be read.
    func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> [Int64]
    /// Deletes the devices of this installation, in both environments and of all kinds.
    /// - Parameter now: The later clock.
    /// - Returns: The ids of the deleted devices, with those that cannot be read.
    func deleteDevices(app: Int64, installation: String, now: Timestamp) async throws -> [Int64]
    /// Returns the number of active devices in the audience, with tokens of one kind or of all.
    func count(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?
    ) async throws -> Int
    /// Returns the number of active devices in each time zone; `nil` stands for devices without one.
    func timeZones(app: Int64, kind: DeviceTokenKind?) async throws -> [String?: Int]
    /// Returns the kinds of tokens that an app's active devices have.
    func tokenKinds(app: Int64) async throws -> Set<DeviceTokenKind>
}

extension DeviceStore {
    /// Registers devices at a time of which both clocks are.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult] {
        try await self.register(registrations, app: app, at: ClockReading(now))
    }

    /// Returns devices as ``devices(app:audience:environment:kind:after:limit:)`` does, in both environments and of all
    /// kinds.
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.devices(app: app, audience: audience, environment: nil, kind: nil, after: after, limit: limit)
    }
}

/// The records of users: the preferences, which their devices share whatever these register themselves, what counts towards
/// caps, and the badge counts. A device without a user has a badge count of its own.
package protocol UserStore: Sendable {
    /// Returns the preferences of a user; empty ones for a user without any.
    func preferences(app: Int64, user: String) async throws -> Preferences
    /// Sets the preferences of a user; empty ones are removed.
    /// - Returns: The ids of the user's devices; `nil` if there is no such app any more.
    @discardableResult
    func setPreferences(_ preferences: Preferences, app: Int64, user: String) async throws -> [Int64]?
    /// Takes the right to send notifications to users under a cap, in one transaction, so that no two notifications take
    /// the same.
    ///
    /// A notification counts once for a user, with all devices, retries and repetitions after a crash, at its latest try.
    /// - Returns: For each reservation, the holders that have had as many notifications as the cap allows.
    func reserve(_ reservations: [FrequencyCapReservation]) async throws -> [Set<BytewiseString>]
    /// Returns the recipients of an audience, grouped by what they are skipped for: active devices, and named tokens that
    /// are not registered.
    /// - Parameter now: The time by the steady clock, for the cap.
    /// - Returns: `nil` if there are too many groups to be counted.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, `BudgetRefusal`.
    func consentGroups(
        app: AppRecord,
        audience: Audience,
        environment: PushEnvironment?,
        content: NotificationContent,
        rules: ConsentRules,
        now: Timestamp
    ) async throws -> [ConsentGroup]?
    /// Changes the counts that a notification shows: each one once, however often this is called.
    /// - Returns: The count of each holder.
    func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [BytewiseString]
    ) async throws -> [BytewiseString: Int]
    /// Returns the count of a holder; 0 for one without a count.
    func badge(app: Int64, holder: String) async throws -> Int
    /// Sets the count of a holder.
    /// - Returns: `false` if there is no such app any more.
    @discardableResult
    func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool
}
