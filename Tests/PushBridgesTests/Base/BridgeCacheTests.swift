import ProviderModel
import PushStore
import PushTesting
import Synchronization
import Testing

@testable import PushBridges

/// The readings of bridges that requests share.
@Suite(.timeLimit(.patience)) struct BridgeCacheTests {
    /// The readings so far. Each waits at its gate.
    private final class Readings: Sendable {
        private struct Failure: Error {}

        private let count = Mutex(0)
        /// The requests that have come.
        let arrivals = Mutex(0)
        let gates: [Gate]

        init(gates: Int) { self.gates = (0..<gates).map { _ in Gate() } }

        var begun: Int { self.count.withLock { $0 } }

        /// Reads, which gives the number of the reading. One without a gate fails.
        func read() async throws -> Int {
            let number = self.count.withLock { count in
                count += 1
                return count
            }
            guard self.gates.indices.contains(number - 1) else { throw Failure() }
            await self.gates[number - 1].pass()
            return number
        }

        func wait(until isReached: (Int) -> Bool) async throws {
            try await eventually { isReached(self.begun) }
        }
    }

    private func withCache(
        gates: Int,
        _ body: (BridgeCache<Int>, Readings, any ProviderStore, Int64) async throws -> Void
    ) async throws {
        for backend in StoreBackend.available {
            try await backend.withStore { store, app in
                let readings = Readings(gates: gates)
                let cache = BridgeCache(store: store) { _ in try await readings.read() }
                try await body(cache, readings, store, app)
            }
        }
    }

    private func change(_ store: any ProviderStore, _ app: Int64) async throws {
        let bridge = BridgeRecord(kind: .xmpp, name: "push.example", app: app, changedAt: Vectors.issuedAt)
        _ = try await store.setBridge(bridge, keepsSecret: false)
    }

    @Test func requestsThatComeTogetherShareOneReading() async throws {
        try await self.withCache(gates: 100) { cache, readings, _, _ in
            let values = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        readings.arrivals.withLock { $0 += 1 }
                        return try await cache.value
                    }
                }
                try await eventually { readings.arrivals.withLock({ $0 }) >= 100 }
                for gate in readings.gates { gate.open() }
                var values: [Int] = []
                for try await value in group { values.append(value) }
                return values
            }
            #expect(values == Array(repeating: 1, count: 100))
            #expect(readings.begun == 1)
        }
    }

    /// The secret of a removed bridge is refused at once.
    @Test func aReadingThatBeganBeforeAChangeIsNotForThoseAfterIt() async throws {
        try await self.withCache(gates: 2) { cache, readings, store, app in
            let before = Task { try await cache.value }
            try await readings.wait { $0 == 1 }
            try await self.change(store, app)
            let after = Task { try await cache.value }
            readings.gates[0].open()
            #expect(try await before.value == 1)
            try await readings.wait { $0 == 2 }
            readings.gates[1].open()
            #expect(try await after.value == 2)
            #expect(try await cache.value == 2)
            #expect(readings.begun == 2, "nothing has changed since")
        }
    }

    @Test func aReadingContinuesWithoutTheRequestThatBeganIt() async throws {
        try await self.withCache(gates: 1) { cache, readings, _, _ in
            let first = Task { try await cache.value }
            try await readings.wait { $0 == 1 }
            let second = Task { try await cache.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            readings.gates[0].open()
            #expect(try await second.value == 1)
            #expect(readings.begun == 1)
        }
    }

    @Test func afterAFailureTheNextRequestReadsAnew() async throws {
        try await self.withCache(gates: 1) { cache, readings, store, app in
            readings.gates[0].open()
            #expect(try await cache.value == 1)
            try await self.change(store, app)
            for begun in 2...3 {
                await #expect(throws: (any Error).self) { try await cache.value }
                #expect(readings.begun == begun)
            }
        }
    }
}
