package import PushTypes

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
