import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Requests and pages that share transactions.
@Suite(.timeLimit(.patience)) struct LedgerWriterTests {
    private static func request(
        _ number: Int,
        app: Int64,
        key: String? = nil,
        isClaimed: Bool = true
    ) throws -> AcceptanceRequest {
        var notification = try NotificationRecord.fixture(app: app, to: .tokens([.numbered(number)]))
        (notification.lane, notification.progress.recipients) = (.urgent, 1)
        return AcceptanceRequest(
            notification,
            shards: [ShardPlan(notBefore: .atOnce)],
            idempotency: key.map { Idempotency(key: $0, fingerprint: [1]) },
            isClaimed: isClaimed
        )
    }

    @Test(arguments: StoreBackend.available)
    func eachOfManyHasItsOwnResult(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let ledger = LedgerWriter(store: store, lease: .seconds(60), time: ManualTime())
            let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...60 {
                    // One of each ten is of no app, and two of each ten are the same request.
                    let isBad = number % 10 == 0
                    let key = number % 10 == 1 || number % 10 == 2 ? "pair \(number / 10)" : nil
                    let request = try Self.request(number, app: isBad ? app + 9 : app, key: key)
                    group.addTask {
                        do {
                            let result = try await ledger.accept(request)
                            switch result.acceptance {
                            case .accepted: return result.claimed == nil ? "unclaimed" : "accepted"
                            case .repeated: return "repeated"
                            default: return "other"
                            }
                        } catch { return "failed" }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == ["accepted": 48, "repeated": 6, "failed": 6])
        }
    }

    /// A store whose transactions fail with some pages, and which records all of them.
    private final class FailingStore: DispatchStore {
        let isDiskFull = Mutex(false)
        /// The numbers of requests and pages of each transaction.
        let transactions = Mutex<[[Int]]>([])

        func write(_ writes: LedgerBatch, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerBatchResult {
            self.transactions.withLock { $0.append([writes.requests.count, writes.pages.count]) }
            if self.isDiskFull.withLock({ $0 }) { throw StoreError.cannotWrite(why: "full") }
            if writes.pages.contains(where: { $0.notificationNumber == 13 }) { throw NothingToClaim() }
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

    @Test func aPageThatCannotBeWrittenFailsAlone() async throws {
        let store = FailingStore()
        let ledger = LedgerWriter(store: store, lease: .seconds(60), time: ManualTime())
        let request = try Self.request(1, app: 1, isClaimed: false)
        let written = await withTaskGroup(of: Bool.self) { group in
            for number in Int64(10)...15 {
                group.addTask {
                    let commit = try? await ledger.commit(PageResult(notificationNumber: number))
                    return (commit != nil) == (number != 13)
                }
                group.addTask { (try? await ledger.accept(request).acceptance) == .accepted }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(written)
    }

    @Test func aDiskErrorFailsAllAtOnce() async throws {
        let store = FailingStore()
        store.isDiskFull.withLock { $0 = true }
        let ledger = LedgerWriter(store: store, lease: .seconds(60), time: ManualTime())
        let request = try Self.request(1, app: 1, isClaimed: false)
        let errors = await withTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await ledger.accept(request)
                        return nil
                    } catch { return error }
                }
            }
            return await group.reduce(into: []) { $0.append($1 as? StoreError) }
        }
        #expect(errors == Array(repeating: StoreError.cannotWrite(why: "full"), count: 20))
        let tried = store.transactions.withLock { $0.reduce(0) { $0 + $1[0] } }
        #expect(tried == 20, "nothing is tried again while the caller waits")
    }

    @Test func aSharedLeaseIsHeldUntilItsLastClaimHasEnded() async throws {
        let leases = HeldLeases()
        _ = try await leases.claimNew(fences: { $0 }) { [Int64(5), 5, 6] }
        func held() async throws -> Set<Int64> {
            let fences = Mutex<Set<Int64>>([])
            let none: [Int64] = try await leases.claim(fence: { $0 }) { held in
                fences.withLock { $0 = held.fences }
                return []
            }
            #expect(none.isEmpty)
            return fences.withLock { $0 }
        }
        #expect(try await held() == [5, 6])
        leases.end(5)
        #expect(try await held() == [5, 6])
        leases.end(5)
        leases.end(7)
        #expect(try await held() == [6])
    }
}
