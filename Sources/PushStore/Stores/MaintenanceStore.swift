package import PushTypes

/// Operators' requests besides the store's work.
package protocol MaintenanceStore: Sendable {
    /// Writes and deletes a row, to prove that what is accepted now would be stored.
    /// - Throws: ``StoreError/cannotWrite(why:)``.
    func checkWritable() async throws
    /// Pauses every notification that has not ended and every schedule, also those that cannot be read.
    /// - Returns: The number of each.
    func pauseEverything(reason: String) async throws -> (notifications: Int, schedules: Int)
    /// Counts what waits. Cheap enough to be called every few seconds.
    func statistics(now: Timestamp) async throws -> StoreStatistics
}

/// An environment of an app in which the circuit breaker is open.
package struct OpenBreaker: Hashable, Sendable {
    package var bundleID: Topic
    package var environment: PushEnvironment
}

/// Numbers of what waits, for metrics.
package struct StoreStatistics: Hashable, Sendable {
    /// Notifications that have not ended.
    package var notifications: [NotificationRecord.State: Int] = [:]
    /// Recipients that wait for another try.
    package var retries = 0
    /// The earliest time at which one of them is due, which may be in the past.
    package var oldestRetryDueAt: Timestamp?
    /// Shards that are being sent.
    package var shardsLeased = 0
    package var shardsWaiting = 0, tokensDeactivated = 0
    /// Shards that may be sent now, or are being sent.
    package var shardsDue = 0
    /// The environments of apps in which no token is deactivated.
    package var openBreakers: [OpenBreaker] = []
    /// Deactivations that wait for an operator's decision.
    package var tokensWithheld = 0
    /// Blocks of events that the webhook that is furthest behind has not received.
    package var webhookBacklog = 0
    /// The time of the oldest of these blocks, by the wall clock; `nil` for none.
    package var oldestWebhookBlockAt: Timestamp?
}
