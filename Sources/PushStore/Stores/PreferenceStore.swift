package import PushTypes

/// The preferences of users, which their devices share whatever these register themselves, and what counts towards caps.
package protocol PreferenceStore: Sendable {
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
    func reserve(_ reservations: [CapReservation]) async throws -> [Set<ExactText>]
    /// Deletes what no cap counts any more, of `limit` rows at most.
    /// - Parameter now: The time by the steady clock.
    /// - Returns: The number of deleted rows.
    func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int
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
}
