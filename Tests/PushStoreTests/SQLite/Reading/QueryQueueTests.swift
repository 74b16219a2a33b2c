import Foundation
import Testing

@testable import PushStore

/// The order of expensive queries.
@Suite struct QueryQueueTests {
    private static let keys = (0..<3).map { _ in UUID() }

    private func enter(_ key: Int, _ ticket: UInt64, _ queue: inout QueryQueue) -> QueryQueue.Decision {
        queue.enter(Self.keys[key], ticket)
    }

    @Test func oneRunsAndKeysAlternate() {
        var queue = QueryQueue()
        #expect(self.enter(0, 1, &queue) == .run)
        #expect(self.enter(0, 2, &queue) == .wait)
        #expect(self.enter(0, 3, &queue) == .wait)
        #expect(self.enter(1, 4, &queue) == .wait)
        #expect(queue.runningCount == 1)
        #expect(queue.leave(Self.keys[0]) == [2])
        #expect(queue.leave(Self.keys[0]) == [4], "not the other one of the first key")
        #expect(queue.leave(Self.keys[1]) == [3])
        #expect(queue.leave(Self.keys[0]) == [])
        #expect(self.enter(2, 5, &queue) == .run)
    }

    /// The key with two queries waits, although two may run at a time.
    @Test func aKeyHasOneAtATime() {
        var queue = QueryQueue(limits: QueryQueue.Limits(running: 2))
        #expect(self.enter(0, 1, &queue) == .run)
        #expect(self.enter(0, 2, &queue) == .wait)
        #expect(self.enter(1, 3, &queue) == .wait)
        #expect(queue.leave(Self.keys[0]) == [2, 3])
    }

    @Test func tooManyAreRejected() {
        var queue = QueryQueue(limits: QueryQueue.Limits(running: 1, waiting: 3, waitingPerKey: 2))
        #expect(self.enter(0, 1, &queue) == .run)
        #expect([2, 3, 4].map { self.enter(0, $0, &queue) } == [.wait, .wait, .reject])
        #expect([5, 6].map { self.enter(1, $0, &queue) } == [.wait, .reject])
        #expect(queue.waitingCount == 3)
    }

    @Test func whoGivesUpLeavesItsPlace() {
        var queue = QueryQueue()
        _ = self.enter(0, 1, &queue)
        _ = self.enter(1, 2, &queue)
        _ = self.enter(2, 3, &queue)
        let given = (0..<2).map { _ in queue.abandon(Self.keys[1], 2) }
        #expect(given == [true, false])
        #expect(!queue.isBusy(Self.keys[1]))
        #expect(queue.leave(Self.keys[0]) == [3])
    }

    @Test func noneBeginsWhileItIsHeld() {
        var queue = QueryQueue()
        _ = self.enter(0, 1, &queue)
        queue.hold()
        #expect(self.enter(1, 2, &queue) == .wait)
        #expect(queue.leave(Self.keys[0]) == [])
        #expect(queue.release() == [2])
    }
}
