/// Badge counts, one per user; a device without a user has its own.
package protocol BadgeStore: Sendable {
    /// Changes the counts that a notification shows: each one once, however often this is called.
    /// - Returns: The count of each holder.
    func changeBadges(
        by increment: Int,
        notification: Int64,
        app: Int64,
        holders: [ExactText]
    ) async throws -> [ExactText: Int]
    /// Returns the count of a holder; 0 for one without a count.
    func badge(app: Int64, holder: String) async throws -> Int
    /// Sets the count of a holder.
    /// - Returns: `false` if there is no such app any more.
    @discardableResult
    func setBadge(_ count: Int, app: Int64, holder: String) async throws -> Bool
}
