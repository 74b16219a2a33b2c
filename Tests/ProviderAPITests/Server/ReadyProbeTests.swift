import PushTesting
import Synchronization
import Testing

@testable import ProviderAPI

/// The readiness probe, with many concurrent callers.
@Suite(.timeLimit(.patience)) struct ReadyProbeTests {
    @Test func theStoreIsProbedOnceASecond() async throws {
        let now = Mutex(ContinuousClock.now)
        let probes = Mutex(0)
        let isBroken = Mutex(false)
        let probe = ReadyProbe(clock: { now.withLock { $0 } }) {
            probes.withLock { $0 += 1 }
            if isBroken.withLock({ $0 }) { throw CancellationError() }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await probe.check() } }
            try await group.waitForAll()
        }
        #expect(probes.withLock { $0 } == 1)
        isBroken.withLock { $0 = true }
        try await probe.check()
        now.withLock { $0 += ReadyProbe.lifetime }
        for _ in 0..<10 { await #expect(throws: (any Error).self) { try await probe.check() } }
        #expect(probes.withLock { $0 } == 2)
        isBroken.withLock { $0 = false }
        now.withLock { $0 += ReadyProbe.lifetime }
        try await probe.check()
    }
}
