import Foundation
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The writer of receipts, without a database.
@Suite(.timeLimit(.minutes(5))) struct ReceiptWriterTests {
    /// A store that remembers its transactions, and waits in the first until it is told.
    private final class Recorder: ReceiptStore {
        let transactions = Mutex<[[ReceiptBatch]]>([])
        let gate = WakeSignal()
        let fails = Mutex(false)

        func addReceipts(
            _ batches: [ReceiptBatch],
            now: Timestamp,
            announce: @Sendable ([ReceiptNews]) -> Data
        ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool) {
            let isFirst = self.transactions.withLock {
                $0.append(batches)
                return $0.count == 1
            }
            if isFirst { _ = await self.gate.wait(atMost: .seconds(60)) }
            if self.fails.withLock({ $0 }) { throw StoreError.cannotWrite(why: "full") }
            return (batches.map { $0.entries.map { _ in .accepted } }, false)
        }

        func receiptCounts(of notification: UUID) async throws -> [ReceiptCount] { [] }
        func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage {
            ReceiptPage([], next: nil)
        }
        func gatewayPosition(_ address: String) async throws -> Int64? { nil }
        func setGatewayPosition(_ position: Int64, of address: String) async throws {}
    }

    private static func batch(_ count: Int = 1) -> ReceiptBatch {
        let entries = (0..<count).map { _ in
            ReceiptBatch.Entry(Receipt(id: UUID(), event: .shown, at: Vectors.issuedAt), of: .notification(UUID()))
        }
        return ReceiptBatch(from: .installation("installation", app: 1), privacy: .device, entries)
    }

    private static func writer(_ store: Recorder, waiting: Int = 1000) -> ReceiptWriter {
        var limits = ReceiptWriter.Limits()
        (limits.waiting, limits.interval) = (waiting, .zero)
        return ReceiptWriter(store: store, events: WakeSignal(), limits: limits, time: ManualTime(Vectors.issuedAt))
    }

    @Test func requestsOfOneTimeShareATransaction() async throws {
        let store = Recorder()
        let writer = Self.writer(store)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await writer.write(Self.batch(2), app: "app").count } }
            while await writer.waitingCount < 98 { await Task.yield() }
            store.gate.signal()
            for try await count in group { #expect(count == 2) }
        }
        #expect(store.transactions.withLock { $0.map(\.count) } == [1, 49])
    }

    @Test func aFullQueueTakesNoMore() async throws {
        let store = Recorder()
        let writer = Self.writer(store, waiting: 3)
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await writer.write(Self.batch(3), app: "app").count }
            while store.transactions.withLock(\.isEmpty) { await Task.yield() }
            group.addTask { try await writer.write(Self.batch(3), app: "app").count }
            while await writer.waitingCount < 3 { await Task.yield() }
            await #expect(throws: ReceiptWriter.Busy.self) { try await writer.write(Self.batch(), app: "app") }
            store.gate.signal()
            for try await count in group { #expect(count == 3) }
        }
    }

    @Test func whatCannotBeWrittenIsAnErrorOfAllItsRequests() async throws {
        let store = Recorder()
        store.fails.withLock { $0 = true }
        store.gate.signal()
        let writer = Self.writer(store)
        for _ in 0..<2 {
            await #expect(throws: StoreError.self) { try await writer.write(Self.batch(), app: "app") }
        }
        store.fails.withLock { $0 = false }
        #expect(try await writer.write(Self.batch(), app: "app") == [.accepted])
        #expect(try await writer.write(Self.batch(0), app: "app") == [])
    }
}
