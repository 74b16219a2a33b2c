import PushSupport
import PushTesting
import Synchronization
import Testing

@Suite(.timeLimit(.patience)) struct CountingSemaphoreTests {
    private static let limit = 3

    private final class Running: Sendable {
        let counts = Mutex((now: 0, most: 0))
    }

    @Test func noMoreThanItsCountRunAtATime() async {
        let semaphore = CountingSemaphore(count: Self.limit)
        let running = Running()
        let ended = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await semaphore.run {
                        running.counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        for _ in 0..<5 { await Task.yield() }
                        running.counts.withLock { $0.now -= 1 }
                        return 1
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(ended == 50)
        #expect(running.counts.withLock { $0 } == (0, Self.limit))
    }

    @Test func anErrorFreesItsPlace() async throws {
        struct Failure: Error {}
        let semaphore = CountingSemaphore(count: 1)
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await semaphore.run { throw Failure() } }
        }
        #expect(await semaphore.run { 7 } == 7)
    }

    @Test func tensOfThousandsWaitForOne() async {
        let semaphore = CountingSemaphore(count: 1)
        let ended = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<50_000 { group.addTask { await semaphore.run { 1 } } }
            return await group.reduce(0, +)
        }
        #expect(ended == 50_000)
    }
}
