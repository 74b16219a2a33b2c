import PushSupport
import Testing

/// The order in which elements of several owners have their turns.
@Suite struct FairQueueTests {
    private func queue(_ elements: [(owner: String, number: Int)]) -> FairQueue<String, Int> {
        var queue = FairQueue<String, Int>()
        for (owner, number) in elements { queue.append(number, of: owner) }
        return queue
    }

    private func takeAll(from queue: inout FairQueue<String, Int>) -> [Int] {
        var taken: [Int] = []
        while let next = queue.popFirst() { taken.append(next) }
        return taken
    }

    @Test func ownersTakeTurns() {
        var queue = self.queue([("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)])
        #expect(queue.count == 6 && queue.count(of: "a") == 3 && queue.count(of: "d") == 0)
        #expect(self.takeAll(from: &queue) == [1, 4, 5, 2, 6, 3])
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    /// One that comes again is behind those that wait.
    @Test func anOwnerThatHadItsTurnIsTheLast() {
        var queue = self.queue([("a", 1), ("b", 2), ("b", 3)])
        #expect(queue.popFirst() == 1)
        queue.append(4, of: "a")
        #expect(self.takeAll(from: &queue) == [2, 4, 3])
    }

    @Test func anOwnerMayBeServedOutOfTurn() {
        var queue = self.queue([("a", 1), ("b", 2), ("c", 3), ("b", 4)])
        #expect(queue.first(of: "b") == 2)
        #expect(queue.popFirst(of: "b") == 2)
        #expect(queue.popFirst(of: "d") == nil)
        #expect(self.takeAll(from: &queue) == [1, 3, 4])
    }

    @Test func whatGivesUpLeavesTheTurnsAsTheyWere() {
        var queue = self.queue([("a", 1), ("a", 2), ("b", 3), ("c", 4)])
        #expect(queue.removeFirst(of: "a") { $0 == 1 } == 1)
        #expect(queue.removeFirst(of: "a") { $0 == 9 } == nil)
        #expect(queue.removeFirst(of: "b") { $0 == 3 } == 3)
        #expect(queue.count == 2 && queue.first(of: "b") == nil)
        #expect(self.takeAll(from: &queue) == [2, 4])
    }
}
