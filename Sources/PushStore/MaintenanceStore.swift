package import PushTypes

/// What operators ask of a store besides its work.
package protocol MaintenanceStore: Sendable {
    /// `nil` takes the name away.
    func setName(_ name: String?, app: Int64) async throws
    /// Writes and forgets something, to prove that what is accepted now would be stored.
    /// - Throws: ``StoreError/cannotWrite(why:)``.
    func checkWritable() async throws
    /// Pauses every notification that has not ended and every schedule, also those that cannot be read. How many it were.
    func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int)
    /// Cheap enough to be asked for every few seconds.
    func figures(now: Timestamp) async throws -> StoreStatistics
}

/// How much of everything waits, for metrics.
package struct StoreStatistics: Hashable, Sendable {
    /// Those that have not ended.
    package var notifications: [NotificationRecord.State: Int] = [:]
    /// Recipients that wait for another try, and when the next try of any has been or is due.
    package var retries = 0
    package var oldestRetryDueAt: Timestamp?
    /// Shards that are being sent.
    package var shardsLeased = 0
    package var shardsWaiting = 0
    package var tokensDeactivated = 0
    /// Deactivations that wait for somebody's decision.
    package var tokensWithheld = 0
    /// Blocks of events that the webhook that is furthest behind has not been told.
    package var webhookBacklog = 0

    package init() {}
}
