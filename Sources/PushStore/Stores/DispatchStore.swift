package import Foundation
package import ProviderModel
package import PushSupport
package import PushTypes

/// The ledger, with the operations of the dispatcher on it.
package protocol DispatchStore: Sendable {
    /// Recovers from the end of the last process: ends all leases, and queues recipients that were in flight under the
    /// guarantee `atMostOnce`, to be ended as ``EndingCause/interrupted``. It is called at the start of the only process
    /// that uses the store.
    /// - Returns: The number of queued recipients.
    func recover(now: Timestamp) async throws -> Int
    /// Shortens delays that exceed ``MaximumDelay``, so that a clock that was wrong when they were written causes a delay and
    /// not a standstill.
    func settleWaiting(at clocks: ClockReading) async throws
    /// Returns notifications that are due to be opened. A notification that cannot be read is paused, because it would block
    /// the others.
    /// - Parameter excluded: The apps whose notifications are not returned.
    func due(now: Timestamp, limit: Int, excluding excluded: Set<Int64>) async throws -> [NotificationRecord]
    /// Opens a scheduled notification: adds its shards, which can be claimed from then on.
    func open(_ notification: UUID, shards: [ShardPlan], recipients: Int, now: Timestamp) async throws
    /// Claims shards that may be sent now, of different notifications if possible.
    /// - Parameter until: The end of the leases by the steady clock.
    func claim(
        lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [ShardClaim]
    /// Returns `true` if a claimed shard may still be sent: its lease is held, its notification is neither paused nor
    /// cancelled, and the app is not stopped.
    func maySend(_ claim: ShardClaim) async throws -> Bool
    /// Releases claimed shards of which nothing was sent. Nothing else of their notifications changes.
    func release(_ claims: [ShardClaim]) async throws
    /// Reads the next recipients after the shard's cursor.
    func page(_ claim: ShardClaim, limit: Int, needs: RecipientProfileFields) async throws -> RecipientPage
    /// Claims recipients whose next attempt is due, of the one app that has waited longest.
    ///
    /// The recipients have the profile that ``NotificationRecord/retryNeeds`` names. Recipients of a cancelled notification
    /// are ended.
    /// - Parameter until: The end of the leases by the steady clock.
    func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [RetryClaim]
    /// Returns the next time by the steady clock, later than `after`, at which a retry or an unleased shard is due.
    func nextDue(lane: NotificationRecord.Lane, after: Timestamp, at clocks: ClockReading) async throws -> Timestamp?
    /// Returns the time at which the next scheduled notification of an app that is not excluded is to be opened.
    func nextOpening(excluding excluded: Set<Int64>) async throws -> Timestamp?
    /// Records that a page is about to be sent. The lease is kept.
    func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage
    /// Accepts requests and commits the results of pages in one transaction.
    ///
    /// A notification is stored unless its idempotency key or its run of a schedule was accepted before. Requests are written
    /// in their order, so that the second of two with one key is a repetition. A request that fails because of its own
    /// content or of stored data does not fail the others.
    ///
    /// A recipient that has a final state keeps it. A page is written only if the lease of its claim is still held, and only
    /// if the shard's cursor is where the page's step began.
    /// - Parameters:
    ///   - now: The time of the pages.
    ///   - leaseUntil: The end of the leases of claimed requests, by the steady clock.
    /// - Throws: An error, after which nothing was written.
    func write(_ writes: LedgerBatch, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerBatchResult
}

extension DispatchStore {
    /// Writes the results of pages in one transaction (``write(_:now:leaseUntil:)``).
    package func commit(_ pages: [PageResult], now: Timestamp) async throws -> [CommitResult] {
        try await self.write(LedgerBatch(pages: pages), now: now, leaseUntil: now).pages
    }
}
