import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The writer of receipts, without a database.
@Suite(.timeLimit(.patience)) struct ReceiptWriterTests {
    private static func batch(_ count: Int = 1) throws -> ReceiptBatch {
        let app = try #require(Topic(Vectors.bundleID))
        let entries = (0..<count).map { _ in
            ReceiptBatch.Entry(
                IncomingReceipt(id: UUID(), event: .shown, at: Vectors.issuedAt),
                of: .notification(UUID())
            )
        }
        return ReceiptBatch(from: .installation("installation", of: app), privacy: .device, entries)
    }

    private static func writer(
        _ store: RecordingReceiptStore,
        places: Budget = Budget(.receipts)
    ) -> ReceiptWriter {
        var limits = ReceiptWriter.Limits()
        limits.interval = .zero
        return ReceiptWriter(
            store: store,
            events: WakeSignal(),
            limits: limits,
            places: places,
            time: ManualTime(Vectors.issuedAt)
        )
    }

    @Test func requestsOfOneTimeShareATransaction() async throws {
        let store = RecordingReceiptStore(isOpen: false)
        let places = Budget(.receipts)
        let writer = Self.writer(store, places: places)
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await writer.write(Self.batch(2), app: "app").count }
            try await eventually { !store.transactions.withLock(\.isEmpty) }
            for _ in 1..<50 { group.addTask { try await writer.write(Self.batch(2), app: "app").count } }
            try await eventually { places.usage.held >= 98 }
            store.gate.signal()
            for try await count in group { #expect(count == 2) }
        }
        #expect(store.transactions.withLock { $0.map(\.count) } == [1, 49])
    }

    /// The spacing is that of the starts by the steady clock, however long a transaction takes.
    @Test func theNextTransactionStartsAnIntervalAfterTheLastStart() {
        let time = ManualTime(Vectors.issuedAt)
        var limits = ReceiptWriter.Limits()
        #expect(limits.interval == .milliseconds(50))
        let start = time.steady
        #expect(limits.delay(after: start, now: time.steady) == .milliseconds(50))
        time.advance(by: .milliseconds(30))
        #expect(limits.delay(after: start, now: time.steady) == .milliseconds(20))
        time.step(by: .seconds(3600))
        #expect(limits.delay(after: start, now: time.steady) == .milliseconds(20))
        for _ in 0..<2 {
            time.advance(by: .milliseconds(20))
            #expect(limits.delay(after: start, now: time.steady) == .zero)
        }
        limits.interval = .zero
        #expect(limits.delay(after: time.steady, now: time.steady) == .zero)
    }

    /// With an interval of a day the second transaction starts at once if the first one has taken a day.
    @Test func aLongTransactionIsFollowedAtOnce() async throws {
        let time = ManualTime(Vectors.issuedAt)
        let store = RecordingReceiptStore { time.advance(by: .seconds(86_400)) }
        var limits = ReceiptWriter.Limits()
        limits.interval = .seconds(86_400)
        let writer = ReceiptWriter(
            store: store,
            events: WakeSignal(),
            limits: limits,
            places: Budget(.receipts),
            time: time
        )
        for _ in 0..<3 { #expect(try await writer.write(Self.batch(), app: "app") == [.accepted]) }
        #expect(store.transactions.withLock { $0.map(\.count) } == [1, 1, 1])
    }

    /// Requests within the interval wait for its end, and share a transaction then.
    @Test func requestsWithinTheIntervalWait() async throws {
        let (store, time) = (RecordingReceiptStore(), ManualTime(Vectors.issuedAt))
        var limits = ReceiptWriter.Limits()
        // The steady clock stands still, so that the writer rests for all of the interval.
        limits.interval = .milliseconds(200)
        let writer = ReceiptWriter(
            store: store,
            events: WakeSignal(),
            limits: limits,
            places: Budget(.receipts),
            time: time
        )
        let start = ContinuousClock.now
        #expect(try await writer.write(Self.batch(), app: "app") == [.accepted])
        async let second = writer.write(Self.batch(), app: "app")
        async let third = writer.write(Self.batch(), app: "app")
        #expect(try await (second, third) == ([.accepted], [.accepted]))
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        #expect(store.transactions.withLock { $0.count } >= 2)
    }

    /// No app fills the queue alone.
    @Test func anAppWithTooManyReceiptsIsRefused() async throws {
        let store = RecordingReceiptStore(isOpen: false)
        let places = Budget(.receipts, limits: BudgetLimits(.init(whole: .held(6), app: .held(3))))
        let writer = Self.writer(store, places: places)
        try await withThrowingTaskGroup(of: Int.self) { group in
            group.addTask { try await writer.write(Self.batch(3), app: "com.example.a").count }
            try await eventually { !store.transactions.withLock(\.isEmpty) }
            group.addTask { try await writer.write(Self.batch(3), app: "com.example.a").count }
            try await eventually { places.usage.held >= 3 }
            let refused = await #expect(throws: BudgetRefusal.self) {
                try await writer.write(Self.batch(), app: "com.example.a")
            }
            #expect(refused?.level == .app && refused?.error.error.code == "too_many_receipts")
            group.addTask { try await writer.write(Self.batch(3), app: "com.example.b").count }
            try await eventually { places.usage.held >= 6 }
            store.gate.signal()
            for try await count in group { #expect(count == 3) }
        }
        #expect(places.usage.held == 0)
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
