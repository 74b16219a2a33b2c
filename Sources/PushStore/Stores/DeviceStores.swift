package import ProviderModel
package import PushSupport
package import PushTypes

/// The devices. There is one per app, environment and token, and one per app, environment, installation, kind and activity.
package protocol DeviceStore: Sendable {
    /// Adds or refreshes devices in one transaction. Properties that a registration leaves out stay as they are.
    /// - Parameter clocks: The current time. A registration is dated by the wall clock, and its history by the later
    ///   clock.
    func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> [RegistrationResult]
    /// Adds or refreshes the device of an installation that registers itself.
    ///
    /// A caller that registers the token of another installation does not get that installation's user.
    /// - Parameters:
    ///   - isProven: Whether the caller has proven that the installation is its own. Otherwise only a token that the
    ///     installation already has, in either environment, is accepted.
    ///   - clocks: The current time. The registration is dated by the wall clock, and its history by the later clock.
    /// - Returns: The result; `nil` if the installation has another token, and nothing was changed.
    func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> RegistrationResult?
    /// Returns devices in the order of their ids, beginning after `after`, including inactive ones.
    ///
    /// Devices that cannot be read are left out. The result has fewer than `limit` devices only if no more follow.
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
    /// Returns a page of the devices that match a search, in an order. Devices that cannot be read are left out.
    ///
    /// A page ends before its limit if the attributes and tags of its devices exceed a megabyte.
    func devices(
        _ search: DeviceSearch,
        sort: DeviceSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<DeviceRecord>
    /// Counts the devices that match a search, up to ``ListTotal/maximum``.
    func totalDevices(_ search: DeviceSearch) async throws -> ListTotal
    /// Returns the devices with this token: one per environment at most.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// Deletes the devices with this token.
    /// - Parameter now: The current time by the later clock.
    /// - Returns: The ids of the deleted devices, including those that cannot be read.
    func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> [Int64]
    /// Deletes the devices of this installation, in both environments and of all kinds.
    /// - Parameter now: The current time by the later clock.
    /// - Returns: The ids of the deleted devices, including those that cannot be read.
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
    /// Registers devices at a time that both clocks show.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult] {
        try await self.register(registrations, app: app, at: ClockReading(now))
    }

    /// Returns devices as ``devices(app:audience:environment:kind:after:limit:)`` does, in both environments and of all kinds.
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.devices(app: app, audience: audience, environment: nil, kind: nil, after: after, limit: limit)
    }
}

/// The data of users: their preferences, which take precedence over those of their devices, the uses of their caps, and their
/// badge counts. A device without a user has a badge count of its own.
package protocol UserStore: Sendable {
    /// Returns the preferences of a user; empty ones for a user without any.
    func preferences(app: Int64, user: String) async throws -> Preferences
    /// Sets the preferences of a user; empty ones are removed.
    /// - Returns: The ids of the user's devices; `nil` if there is no such app any more.
    @discardableResult
    func setPreferences(_ preferences: Preferences, app: Int64, user: String) async throws -> [Int64]?
    /// Reserves a use of the cap for the users of notifications, in one transaction, so that concurrent notifications cannot
    /// exceed the cap.
    ///
    /// A notification counts once for a user, at the time of its latest attempt, regardless of devices, retries and
    /// repetitions after a crash.
    /// - Returns: The holders that have reached the cap, for each reservation.
    func reserve(_ reservations: [FrequencyCapReservation]) async throws -> [Set<BytewiseString>]
    /// Returns the numbers of an audience's recipients, grouped by the facts that decide whether they are skipped.
    /// Recipients are active devices, and named tokens that are not registered.
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
    /// Changes the badge counts of a notification's holders. Each count changes once per notification, even if this is called
    /// again.
    /// - Returns: The count of each holder.
    func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [BytewiseString]
    ) async throws -> [BytewiseString: Int]
    /// Returns the badge count of a holder; 0 for a holder without one.
    func badge(app: Int64, holder: String) async throws -> Int
    /// Sets the badge count of a holder.
    /// - Returns: `false` if there is no such app any more.
    @discardableResult
    func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool
}
