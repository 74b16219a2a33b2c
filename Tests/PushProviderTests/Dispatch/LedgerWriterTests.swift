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

    /// Such as a page of a notification that was removed with its app.
    @Test(arguments: [NothingToClaim(), StoreError.ownerRemoved(.notification)] as [any Error])
    func aPageThatCannotBeWrittenFailsAlone(error: any Error) async throws {
        let store = ScriptedDispatchStore { $0.pages.contains { $0.notificationNumber == 13 } ? error : nil }
        let ledger = LedgerWriter(store: store, lease: .seconds(60), time: ManualTime())
        let request = try Self.request(1, app: 1, isClaimed: false)
        let written = await withTaskGroup(of: Bool.self) { group in
            for number in Int64(10)...15 {
                group.addTask {
                    let commit = try? await ledger.commit(PageResult(notificationNumber: number), of: 1)
                    return (commit != nil) == (number != 13)
                }
                group.addTask { (try? await ledger.accept(request).acceptance) == .accepted }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(written)
    }

    @Test func writesForManyShareNoTransactionWithOthers() async throws {
        let store = ScriptedDispatchStore { _ in nil }
        let (time, now) = (ManualTime(), Timestamp.atOnce)
        let ledger = LedgerWriter(store: store, lease: .seconds(60), time: time)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...60 {
                let count = [1, 8, 9, 400, 1000, 5000][number % 6]
                var request = try Self.request(number, app: Int64(number % 3), isClaimed: false)
                request.notification.audience = .tokens((1...count).map { .numbered(number * 5000 + $0) })
                group.addTask { [request] in try await ledger.accept(request).acceptance == .accepted }
                group.addTask {
                    var page = PageResult(notificationNumber: Int64(number))
                    let delivery = DeliveryResult(recipient: 1, device: 1, state: .accepted, attempts: 1, at: now)
                    page.deliveries = Array(repeating: delivery, count: count)
                    return try await ledger.commit(page, of: Int64(number % 3)) == .inProgress
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 120)
        for transaction in store.transactions.withLock({ $0 }) {
            let requests = transaction.requests.map { request in
                if case .tokens(let tokens) = request.notification.audience { tokens.count } else { 0 }
            }
            let sizes = requests + transaction.pages.map(\.deliveries.count)
            let isForFew = sizes.allSatisfy { $0 <= DirectDispatch.maximumTokens }
            #expect(isForFew || sizes.allSatisfy { $0 > DirectDispatch.maximumTokens })
            #expect(isForFew || sizes.count == 1 || sizes.reduce(0, +) <= LedgerWriter.maximumRecipients)
        }
    }

    @Test func aDiskErrorFailsAllAtOnce() async throws {
        let store = ScriptedDispatchStore { _ in StoreError.cannotWrite(why: "full") }
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
        let tried = store.transactions.withLock { $0.reduce(0) { $0 + $1.requests.count } }
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
