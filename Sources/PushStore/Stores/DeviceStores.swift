package import ProviderModel
package import PushSupport
package import PushTypes

/// The store of devices. In an app and environment, tokens are unique, as are installation, kind and activity.
package protocol DeviceStore: Sendable {
    /// Registers devices in one transaction. Properties that a registration omits keep their stored values. The results
    /// are in the order of the registrations.
    /// - Parameter clocks: The current time. A registration is dated by the wall clock, and its history by the later of
    ///   the wall and steady clocks.
    func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> [RegistrationResult]
    /// Registers the device of an installation that registers itself.
    ///
    /// If the token belongs to another installation, that installation's user is not copied.
    /// - Parameters:
    ///   - isProven: Whether the caller has proven that the installation is its own. If not, only a token that the
    ///     installation already has, in either environment, is accepted.
    ///   - clocks: The current time, used as in ``register(_:app:at:)``.
    /// - Returns: The result, or `nil` if the installation has another token, in which case nothing is changed.
    func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> RegistrationResult?
    /// Returns devices in the order of their ids, beginning after the id `after`. Inactive devices are included.
    ///
    /// Devices that cannot be read are left out. The result has fewer than `limit` devices only if no more follow.
    /// - Parameters:
    ///   - environment: The environment of the devices, or `nil` for both.
    ///   - kind: The kind of the devices' tokens, or `nil` for all kinds.
    func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord]
    /// Returns a page of the devices that match a search, in the given order. Devices that cannot be read are left out.
    ///
    /// A page ends before `limit` once the attributes and tags of its devices exceed one megabyte.
    /// - Parameter after: The position at which the previous page ended, or `nil` for the first page.
    func devices(
        _ search: DeviceSearch,
        sort: DeviceSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<DeviceRecord>
    /// Counts the devices that match a search. Above ``ListTotal/maximum``, the count is inexact.
    func totalDevices(_ search: DeviceSearch) async throws -> ListTotal
    /// Returns the devices with this token, at most one per environment.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// Deletes the devices with this token, in one environment or (`nil`) in both.
    /// - Parameter now: The current time, by the later of the wall and steady clocks.
    /// - Returns: The ids of the deleted devices, including those that cannot be read.
    func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> [Int64]
    /// Deletes the devices of this installation, in both environments and of all kinds.
    /// - Parameter now: The current time, by the later of the wall and steady clocks.
    /// - Returns: The ids of the deleted devices, including those that cannot be read.
    func deleteDevices(app: Int64, installation: String, now: Timestamp) async throws -> [Int64]
    /// Returns the number of an audience's active devices. A `nil` environment or kind of token stands for any.
    func count(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        kind: DeviceTokenKind?
    ) async throws -> Int
    /// Returns the number of active devices, with one kind of token or (`nil`) any, in each time zone. The key `nil`
    /// stands for devices without a time zone.
    func timeZones(app: Int64, kind: DeviceTokenKind?) async throws -> [String?: Int]
    /// Returns the kinds of tokens that the active devices of an app have.
    func tokenKinds(app: Int64) async throws -> Set<DeviceTokenKind>
}

extension DeviceStore {
    /// Registers devices at a time that both the wall clock and the steady clock show.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult] {
        try await self.register(registrations, app: app, at: ClockReading(now))
    }

    /// Returns devices as ``devices(app:audience:environment:kind:after:limit:)`` does, of all environments and kinds.
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.devices(app: app, audience: audience, environment: nil, kind: nil, after: after, limit: limit)
    }
}

/// The store of users' preferences, frequency caps and badge counts. A user's preferences take precedence over those of
/// the user's devices. A device without a user has a badge count of its own.
package protocol UserStore: Sendable {
    /// Returns the preferences of a user, which are empty if none are stored.
    func preferences(app: Int64, user: String) async throws -> Preferences
    /// Sets the preferences of a user. Empty preferences are deleted.
    /// - Returns: The ids of the user's devices, or `nil` if the app no longer exists.
    @discardableResult
    func setPreferences(_ preferences: Preferences, app: Int64, user: String) async throws -> [Int64]?
    /// Counts notifications towards frequency caps, in one transaction, so that concurrent ones cannot exceed a cap.
    ///
    /// A notification counts once for each user, at the time of its latest attempt, regardless of devices, retries and
    /// repetitions after a crash.
    /// - Returns: For each reservation, the holders, users or devices without a user, that have reached the cap.
    func reserve(_ reservations: [FrequencyCapReservation]) async throws -> [Set<BytewiseString>]
    /// Returns the number of an audience's recipients for each combination of facts that decides whether they are
    /// skipped. Recipients are active devices, and named tokens that are not registered.
    /// - Parameters:
    ///   - environment: The environment of the devices, or `nil` for both. Named tokens are then those of production.
    ///   - now: The current time by the steady clock, for the frequency cap.
    /// - Returns: The groups: none if no recipient can be skipped, and `nil` if there are more than 10,000.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)`` if the query exceeds its time budget, and `BudgetRefusal` if
    ///   too many queries of the caller wait already.
    func consentGroups(
        app: AppRecord,
        audience: Audience,
        environment: PushEnvironment?,
        content: NotificationContent,
        rules: ConsentRules,
        now: Timestamp
    ) async throws -> [ConsentGroup]?
    /// Changes the badge counts of a notification's holders, which are users or devices without a user. Repeated calls
    /// for a notification change each count only once. Counts stay from 0 to 99,999.
    /// - Returns: The badge count of each holder.
    func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [BytewiseString]
    ) async throws -> [BytewiseString: Int]
    /// Returns the badge count of a holder, or 0 if none is stored.
    func badge(app: Int64, holder: String) async throws -> Int
    /// Sets the badge count of a holder.
    /// - Returns: `true`, or `false` if the app no longer exists.
    @discardableResult
    func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool
}
