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
    private static func batch(_ count: Int = 1) throws -> ReceiptBatch {
        let app = try #require(Topic(Vectors.bundleID))
        let entries = (0..<count).map { _ in
            ReceiptBatch.Entry(Receipt(id: UUID(), event: .shown, at: Vectors.issuedAt), of: .notification(UUID()))
        }
        return ReceiptBatch(from: .installation("installation", of: app), privacy: .device, entries)
    }

    private static func writer(_ store: RecordingReceiptStore, waiting: Int = 1000) -> ReceiptWriter {
        var limits = ReceiptWriter.Limits()
        (limits.waiting, limits.interval) = (waiting, .zero)
        return ReceiptWriter(store: store, events: WakeSignal(), limits: limits, time: ManualTime(Vectors.issuedAt))
    }

    @Test func requestsOfOneTimeShareATransaction() async throws {
        let store = RecordingReceiptStore(isOpen: false)
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
        let store = RecordingReceiptStore(isOpen: false)
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
        let store = RecordingReceiptStore()
        store.fails.withLock { $0 = true }
        let writer = Self.writer(store)
        for _ in 0..<2 {
            await #expect(throws: StoreError.self) { try await writer.write(Self.batch(), app: "app") }
        }
        store.fails.withLock { $0 = false }
        #expect(try await writer.write(Self.batch(), app: "app") == [.accepted])
        #expect(try await writer.write(Self.batch(0), app: "app") == [])
    }
}
