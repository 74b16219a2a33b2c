package import Foundation
package import ProviderModel
package import PushSupport
package import PushTypes

/// The store of the ledger, with the operations by which the dispatcher sends notifications.
package protocol DispatchStore: Sendable {
    /// Recovers after the end of other processes: it ends their leases. It also queues the recipients that were in
    /// flight under the guarantee `atMostOnce`, which get the final state of ``EndingCause/interrupted``. A process
    /// calls it when it starts. If it is the only one that uses the store, all leases are those of ended processes.
    /// - Returns: The number of queued recipients.
    func recover(now: Timestamp) async throws -> Int
    /// Shortens delays that exceed ``MaximumDelay``, so that a wrong clock delays work but does not block it.
    func settleWaiting(at clocks: ClockReading) async throws
    /// Returns scheduled notifications that are due to be opened, that is, to be divided into shards that are sent. A
    /// notification that cannot be read is paused, because it would block the others.
    /// - Parameter excluded: The apps whose notifications are left out.
    func due(now: Timestamp, limit: Int, excluding excluded: Set<Int64>) async throws -> [NotificationRecord]
    /// Opens a scheduled notification: it adds the shards, which can then be claimed. Others do not change.
    /// - Parameter recipients: The number of devices in the audience. For named tokens, it is not used.
    func open(_ notification: UUID, shards: [ShardPlan], recipients: Int, now: Timestamp) async throws
    /// Claims shards that may be sent now, from different notifications if possible.
    /// - Parameter until: The expiry time of the leases, by the steady clock.
    func claim(
        lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [ShardClaim]
    /// Returns whether a claimed shard may still be sent. It may not if its lease is lost, if its notification is
    /// paused or cancelled, or if its app is stopped.
    func maySend(_ claim: ShardClaim) async throws -> Bool
    /// Releases claimed shards of which nothing was sent. The shards and their notifications stay otherwise unchanged.
    func release(_ claims: [ShardClaim]) async throws
    /// Reads the page of recipients that follows the cursor of a claimed shard.
    /// - Parameter needs: The profile fields to read.
    func page(_ claim: ShardClaim, limit: Int, needs: RecipientProfileFields) async throws -> RecipientPage
    /// Claims recipients whose next attempt is due, of the one app whose retries have waited longest.
    ///
    /// Their profiles have the fields of ``NotificationRecord/retryNeeds``. Those of a cancelled notification are
    /// returned as ended.
    /// - Parameter until: The expiry time of the leases, by the steady clock.
    func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [RetryClaim]
    /// Returns the earliest time after `after`, by the steady clock, at which a retry or an unclaimed shard becomes
    /// due, or `nil` if there is none.
    func nextDue(lane: NotificationRecord.Lane, after: Timestamp, at clocks: ClockReading) async throws -> Timestamp?
    /// Returns the earliest opening time of scheduled notifications of apps not excluded, or `nil` if there is none.
    func nextOpening(excluding excluded: Set<Int64>) async throws -> Timestamp?
    /// Records that a page is about to be sent under the guarantee `atMostOnce`, and keeps the page's lease.
    func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage
    /// Accepts requests and commits the results of pages in one transaction.
    ///
    /// A notification is stored unless its idempotency key, or its run of a schedule, was already accepted. Requests
    /// are processed in their order, so that the second of two requests with the same key counts as a repetition. A
    /// request that fails because of its own content or of stored data does not affect the others.
    ///
    /// A recipient with a final state keeps it. A page is committed only if the lease of its claim is not lost, and
    /// only if the shard's cursor is where the page began.
    /// - Parameters:
    ///   - now: The time of the pages.
    ///   - leaseUntil: The expiry time, by the steady clock, of leases for requests claimed at their acceptance.
    /// - Throws: The error that ended the transaction. In that case nothing was written.
    func write(_ writes: LedgerBatch, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerBatchResult
}

extension DispatchStore {
    /// Commits the results of pages in one transaction (``write(_:now:leaseUntil:)``).
    package func commit(_ pages: [PageResult], now: Timestamp) async throws -> [CommitResult] {
        try await self.write(LedgerBatch(pages: pages), now: now, leaseUntil: now).pages
    }
}
