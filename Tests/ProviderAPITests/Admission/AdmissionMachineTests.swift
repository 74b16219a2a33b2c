import Foundation
import PushSupport
import Synchronization
import Testing

@testable import ProviderAPI

/// Rates of keys, and the probe of the store.
@Suite(.timeLimit(.minutes(5))) struct AdmissionMachineTests {
    private let start = ContinuousClock.now

    @Test func aBucketFillsAtItsRate() {
        var bucket = TokenBucket(rate: 10, burst: 20, now: self.start)
        let taken = (0..<25).filter { _ in bucket.take(now: self.start) == nil }
        #expect(taken.count == 20)
        #expect(bucket.take(now: self.start) == .milliseconds(100))
        let later = self.start + .seconds(1)
        #expect((0..<25).filter { _ in bucket.take(now: later) == nil }.count == 10)
        let fullness = [later, later + .seconds(2)].map { bucket.isFull(now: $0) }
        #expect(fullness == [false, true])
        // A clock never goes back here, but nothing breaks if it did.
        #expect(bucket.take(now: self.start) == nil)
    }

    @Test func eachKeyHasARateOfItsOwn() throws {
        let rates = KeyRateLimiter(rate: 1) { [start] in start }
        let (one, other) = (UUID(), UUID())
        for _ in 0..<2 { try rates.take(one) }
        let refusal = #expect(throws: Throttled.self) { try rates.take(one) }
        #expect(refusal?.refusal.kind == .rateLimited)
        #expect(refusal?.seconds == "2")
        #expect(throws: Never.self) { try rates.take(other) }
        // Long bodies wait longer and longer, short ones never do.
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .zero)
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .seconds(1))
        #expect(try rates.delay(of: one, bytes: 1000) == .zero)
        #expect(throws: Throttled.self) { try rates.delay(of: one, bytes: 100 << 20) }
        #expect(try rates.delay(of: one, bytes: 8 << 20) == .seconds(2))
        #expect(try rates.delay(of: other, bytes: 8 << 20) == .zero)
        let free = KeyRateLimiter(rate: 0)
        for _ in 0..<10_000 { try free.take(one) }
    }

    /// However many ask, and however often.
    @Test func theStoreIsProbedOnceASecond() async throws {
        let now = Mutex(self.start)
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
        now.withLock { $0 += ReadyProbe.memory }
        for _ in 0..<10 { await #expect(throws: (any Error).self) { try await probe.check() } }
        #expect(probes.withLock { $0 } == 2)
        isBroken.withLock { $0 = false }
        now.withLock { $0 += ReadyProbe.memory }
        try await probe.check()
    }
}
