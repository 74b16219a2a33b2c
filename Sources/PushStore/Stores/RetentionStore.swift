package import PushTypes

/// The deletion of records that are kept for a time only.
package protocol RetentionStore: Sendable {
    /// Deletes notifications that ended before this time with their deliveries, and token events of that age.
    /// - Parameter limit: The most rows of one call, so that other writers do not wait long.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forget(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes connections that were opened before this time, but for the newest ones, which may be open.
    /// - Parameter limit: The most rows of one call.
    /// - Returns: The number of rows; 0 when there is nothing left to delete.
    func forgetConnections(before: Timestamp, limit: Int) async throws -> Int
    /// Deletes entries of the audit log that are older than this, `limit` at most.
    /// - Returns: Their number.
    func forgetAudit(before: Timestamp, limit: Int) async throws -> Int
    /// Removes entries about legacy tokens that no provider has asked for since a time.
    /// - Returns: The number of removed entries.
    func forgetLegacyTokens(before: Timestamp, limit: Int) async throws -> Int
    /// Adds the counters of charts that are too old for their step to those of the next one, and deletes the oldest days.
    /// - Returns: The number of rows of one transaction; 0 once nothing is left to do.
    func rollUpStatistics(now: Timestamp) async throws -> Int
    /// Deletes what no cap counts any more, of `limit` rows at most.
    /// - Parameter now: The time by the steady clock.
    /// - Returns: The number of deleted rows.
    func forgetCapUses(now: Timestamp, limit: Int) async throws -> Int
    /// Deletes the blocks of events for webhooks before this time.
    /// - Returns: Their number.
    func forgetEvents(before: Timestamp) async throws -> Int
}
