import Testing

@testable import PushBridges

@Suite struct OpeningQueueTests {
    /// Takes so many sessions.
    private func take(_ count: Int, from queue: inout OpeningQueue<String>) -> [String] {
        (0..<count).compactMap { _ in queue.take() }
    }

    @Test func theSessionsOfAnAppKeepTheirOrder() {
        var queue = OpeningQueue<String>()
        for name in ["a", "b", "c"] { queue.add(name, of: 1) }
        #expect(self.take(2, from: &queue) == ["a", "b"])
        queue.add("d", of: 1)
        #expect(self.take(3, from: &queue) == ["c", "d"])
    }

    @Test func anAppWhoseServersDoNotRespondHoldsUpNoOther() {
        var queue = OpeningQueue<String>()
        for number in 0..<100 { queue.add("slow \(number)", of: 1) }
        #expect(self.take(10, from: &queue).count == 10)
        queue.add("a", of: 2)
        queue.add("b", of: 3)
        queue.add("c", of: 2)
        queue.end(of: 1)
        #expect(self.take(4, from: &queue) == ["a", "b", "c", "slow 10"])
    }

    @Test func nothingIsLeftOfAnAppWithoutSessions() {
        var queue = OpeningQueue<String>()
        queue.add("a", of: 1)
        #expect(queue.take() == "a")
        queue.end(of: 1)
        queue.end(of: 1)
        #expect(queue.take() == nil)
        // The app has no debts and no credit.
        for number in 0..<2 {
            queue.add("b\(number)", of: 1)
            queue.add("c\(number)", of: 2)
        }
        #expect(self.take(4, from: &queue) == ["b0", "c0", "b1", "c1"])
    }
}
