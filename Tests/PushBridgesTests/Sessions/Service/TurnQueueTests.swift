import PushSupport
import PushTypes
import Testing

@testable import PushBridges

@Suite struct TurnQueueTests {
    /// Takes so many sessions.
    private func take(_ count: Int, from queue: inout TurnQueue<String>) -> [String] {
        (0..<count).compactMap { _ in queue.take() }
    }

    @Test func theSessionsOfAnAppKeepTheirOrder() {
        var queue = TurnQueue<String>()
        for name in ["a", "b", "c"] { queue.add(name, of: 1) }
        #expect(self.take(2, from: &queue) == ["a", "b"])
        queue.add("d", of: 1)
        #expect(self.take(3, from: &queue) == ["c", "d"])
    }

    @Test func anAppWhoseServersDoNotRespondHoldsUpNoOther() {
        var queue = TurnQueue<String>()
        for number in 0..<100 { queue.add("slow \(number)", of: 1) }
        #expect(self.take(10, from: &queue).count == 10)
        queue.add("a", of: 2)
        queue.add("b", of: 3)
        queue.add("c", of: 2)
        queue.end(of: 1)
        #expect(self.take(4, from: &queue) == ["a", "b", "c", "slow 10"])
    }

    /// The pushes of chat sessions.
    @Test func anAppHasAShareOfWhatWaits() throws {
        let budget = Budget(.chatPushes)
        let (flooded, other) = (try #require(Topic("com.example.A")), try #require(Topic("com.example.B")))
        func take(_ app: Topic) -> [BudgetPermit] {
            (0..<10_000).compactMap { _ in try? budget.take(for: BudgetCaller(app: app)) }
        }
        let held = take(flooded)
        #expect(held.count < 7000 && budget.usage.held == held.count)
        #expect(take(other).count > 1000)
    }

    @Test func nothingIsLeftOfAnAppWithoutSessions() {
        var queue = TurnQueue<String>()
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
