import Foundation
import Testing

@testable import PushStore

/// Who asks next.
@Suite struct QueryTurnsTests {
    private static let keys = (0..<3).map { _ in UUID() }

    private func enter(_ key: Int, _ ticket: UInt64, _ turns: inout QueryQueue) -> QueryQueue.Decision {
        turns.enter(Self.keys[key], ticket)
    }

    @Test func oneRunsAndKeysTakeTurns() {
        var turns = QueryQueue()
        #expect(self.enter(0, 1, &turns) == .run)
        #expect(self.enter(0, 2, &turns) == .wait)
        #expect(self.enter(0, 3, &turns) == .wait)
        #expect(self.enter(1, 4, &turns) == .wait)
        #expect(turns.runningCount == 1)
        #expect(turns.leave(Self.keys[0]) == [2])
        #expect(turns.leave(Self.keys[0]) == [4], "not the other one of the first key")
        #expect(turns.leave(Self.keys[1]) == [3])
        #expect(turns.leave(Self.keys[0]) == [])
        #expect(self.enter(2, 5, &turns) == .run)
    }

    /// Also where there is room for more than one at a time.
    @Test func aKeyHasOneAtATime() {
        var turns = QueryQueue(limits: QueryQueue.Limits(running: 2))
        #expect(self.enter(0, 1, &turns) == .run)
        #expect(self.enter(0, 2, &turns) == .wait)
        #expect(self.enter(1, 3, &turns) == .wait)
        #expect(turns.leave(Self.keys[0]) == [2, 3])
    }

    @Test func tooManyAreRefused() {
        var turns = QueryQueue(limits: QueryQueue.Limits(running: 1, waiting: 3, waitingPerKey: 2))
        #expect(self.enter(0, 1, &turns) == .run)
        #expect([2, 3, 4].map { self.enter(0, $0, &turns) } == [.wait, .wait, .refuse])
        #expect([5, 6].map { self.enter(1, $0, &turns) } == [.wait, .refuse])
        #expect(turns.waitingCount == 3)
    }

    @Test func whoGivesUpLeavesItsPlace() {
        var turns = QueryQueue()
        _ = self.enter(0, 1, &turns)
        _ = self.enter(1, 2, &turns)
        _ = self.enter(2, 3, &turns)
        let given = (0..<2).map { _ in turns.abandon(Self.keys[1], 2) }
        #expect(given == [true, false])
        #expect(!turns.isBusy(Self.keys[1]))
        #expect(turns.leave(Self.keys[0]) == [3])
    }

    @Test func noneBeginsWhileItIsHeld() {
        var turns = QueryQueue()
        _ = self.enter(0, 1, &turns)
        turns.hold()
        #expect(self.enter(1, 2, &turns) == .wait)
        #expect(turns.leave(Self.keys[0]) == [])
        #expect(turns.release() == [2])
    }
}
