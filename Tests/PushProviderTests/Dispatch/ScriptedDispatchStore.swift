import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization

/// A store whose transactions fail as told, and which records all of them.
final class ScriptedDispatchStore: DispatchStore {
    let transactions = Mutex<[LedgerBatch]>([])
    private let failure: @Sendable (LedgerBatch) -> (any Error)?

    /// - Parameter failure: returns the error of a transaction; `nil` for one that succeeds.
    init(_ failure: @escaping @Sendable (LedgerBatch) -> (any Error)?) { self.failure = failure }

    func write(_ writes: LedgerBatch, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerBatchResult {
        self.transactions.withLock { $0.append(writes) }
        if let error = self.failure(writes) { throw error }
        return LedgerBatchResult(
            requests: writes.requests.map { _ in .success(AcceptanceResult(.accepted)) },
            pages: writes.pages.map { _ in .inProgress }
        )
    }

    func recover(now: Timestamp) async throws -> Int { 0 }
    func settleWaiting(at clocks: ClockReading) async throws {}
    func due(now: Timestamp, limit: Int, excluding: Set<Int64>) async throws -> [NotificationRecord] { [] }
    func open(_ notification: UUID, shards: [ShardPlan], recipients: Int, now: Timestamp) async throws {}
    func claim(
        lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [ShardClaim] { [] }
    func maySend(_ claim: ShardClaim) async throws -> Bool { true }
    func release(_ claims: [ShardClaim]) async throws {}
    func page(_ claim: ShardClaim, limit: Int, needs: RecipientProfileFields) async throws -> RecipientPage {
        throw NothingToClaim()
    }
    func dueRetries(
        lane: NotificationRecord.Lane,
        now: Timestamp,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [RetryClaim] { [] }
    func nextDue(
        lane: NotificationRecord.Lane,
        after: Timestamp,
        at clocks: ClockReading
    ) async throws -> Timestamp? { nil }
    func nextOpening(excluding excluded: Set<Int64>) async throws -> Timestamp? { nil }
    func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage { throw NothingToClaim() }
}
