import PushSupport
import PushTesting
import PushTypes
import Testing

/// Waiting for a budget, in tasks.
@Suite(.timeLimit(.patience)) struct BudgetWaitTests {
    private let news = BudgetCaller(app: Topic("com.example.news"))
    private let weather = BudgetCaller(app: Topic("com.example.weather"))

    private func budget(
        _ bounds: BudgetLimits.Levels<BudgetBound> = .init(whole: .held(1)),
        waiting: BudgetLimits.Levels<Int> = .init(),
        patience: Duration = .patience
    ) -> Budget {
        Budget(.counts, limits: BudgetLimits(bounds, waiting: waiting, patience: patience))
    }

    @Test func whoWaitsIsGrantedWhatIsGivenBack() async throws {
        let budget = self.budget()
        let first = try await budget.wait(for: self.news)
        let second = Task { try await budget.wait(for: self.weather) }
        try await eventually { budget.usage.waiting == 1 }
        #expect(budget.usage(of: self.weather) == (0, 1))
        first.end()
        let permit = try await second.value
        #expect(budget.usage(of: self.weather) == (1, 0) && budget.usage.held == 1)
        permit.end()
        #expect(budget.usageByApp.isEmpty && budget.refusals.isEmpty)
    }

    /// The refusal names the level that had no room, and is counted there: this one has no bound of all callers.
    @Test func whoHasNoMorePatienceIsRefusedByTheLevelThatIsFull() async throws {
        let budget = self.budget(.init(app: .held(2), caller: .held(1)), patience: .milliseconds(1))
        let keys = ["a", "b", "c"].map { BudgetCaller(app: self.news.app, .name($0)) }
        let held = try [budget.take(for: keys[0]), budget.take(for: keys[1])]
        let byApp = await #expect(throws: BudgetRefusal.self) { try await budget.wait(for: keys[2]) }
        #expect(byApp?.level == .app && byApp?.bound == .held(2))
        let byCaller = await #expect(throws: BudgetRefusal.self) { try await budget.wait(for: keys[0]) }
        #expect(byCaller?.level == .caller && byCaller?.bound == .held(1))
        #expect(Set(budget.refusals.map(\.level)) == [.app, .caller])
        #expect(budget.usage == (2, 0))
        for permit in held { permit.end() }
    }

    @Test func whoIsCancelledLeavesTheQueue() async throws {
        let budget = self.budget()
        let first = try budget.take(for: self.news)
        let second = Task { try await budget.wait(for: self.weather) }
        try await eventually { budget.usage.waiting == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(budget.usage == (1, 0))
        first.end()
        #expect(budget.usageByApp.isEmpty && budget.refusals.isEmpty)
    }

    /// A request that is granted while it is cancelled is one or the other.
    @Test func cancellationsAndGrantsLoseNothing() async throws {
        let budget = self.budget()
        for _ in 0..<200 {
            let first = try budget.take(for: self.news)
            let second = Task { try await budget.wait(for: self.weather) }
            try await eventually { budget.usage.waiting == 1 }
            async let end: Void = first.end()
            async let cancel: Void = second.cancel()
            _ = await (end, cancel)
            try? await second.value.end()
            #expect(budget.usage == (0, 0))
        }
    }

    @Test func theEndEndsWhatWaits() async throws {
        let budget = self.budget()
        let first = try budget.take(for: self.news)
        let second = Task { try await budget.wait(for: self.weather) }
        try await eventually { budget.usage.waiting == 1 }
        budget.end()
        await #expect(throws: BudgetEnded.self) { try await second.value }
        #expect(budget.usage == (1, 0))
        first.end()
        #expect(budget.usageByApp.isEmpty)
        await #expect(throws: BudgetEnded.self) { try await budget.wait(for: self.weather) }
        #expect(throws: BudgetRefusal.self) { try budget.take(for: self.weather) }
        #expect(budget.usage == (0, 0))
    }

    // MARK: Turns

    /// The queue is full of newcomers, and what has begun goes on after them.
    @Test func whoGivesItsTurnBackIsNotRefused() async throws {
        let budget = self.budget(waiting: .init(whole: 1, app: 1))
        let own = try budget.take(for: self.news)
        let other = Task { try await budget.wait(for: self.weather) }
        try await eventually { budget.usage.waiting == 1 }
        let newcomer = Task { try await budget.wait(for: self.news) }
        try await eventually { budget.usage.waiting == 2 }
        let turn = Task { try await own.yield() }
        let others = try await other.value
        try await eventually { budget.usage(of: self.news) == (0, 2) }
        others.end()
        try await newcomer.value.end()
        try await turn.value
        #expect(budget.usage(of: self.news) == (1, 0) && budget.refusals.isEmpty)
        // With nobody in the queue it keeps its turn.
        try await own.yield()
        #expect(budget.usage(of: self.news) == (1, 0))
        own.end()
        #expect(budget.usageByApp.isEmpty)
    }

    /// Gives a turn back to another caller, who holds it.
    private func yielding(
        _ budget: Budget,
        _ permit: BudgetPermit
    ) async throws -> (others: BudgetPermit, turn: Task<Void, any Error>) {
        let other = Task { try await budget.wait(for: self.news) }
        try await eventually { budget.usage.waiting == 1 }
        let turn = Task { try await permit.yield() }
        let others = try await other.value
        try await eventually { budget.usage.waiting == 1 }
        return (others, turn)
    }

    @Test(arguments: [true, false]) func aTurnThatEndsMeanwhileHoldsNothing(_ isCancelled: Bool) async throws {
        let budget = self.budget()
        let own = try budget.take(for: self.weather)
        let (others, turn) = try await self.yielding(budget, own)
        if isCancelled {
            turn.cancel()
            await #expect(throws: CancellationError.self) { try await turn.value }
        } else {
            budget.end()
            await #expect(throws: BudgetEnded.self) { try await turn.value }
        }
        own.end()
        #expect(budget.usage == (1, 0))
        others.end()
        #expect(budget.usageByApp.isEmpty)
    }

    // MARK: Room

    /// What several find free at the same time is granted once.
    @Test func whatIsFreeIsGrantedOnce() async throws {
        let budget = Budget(.uploadedBytes)
        let permits = await withTaskGroup(of: BudgetPermit?.self) { group in
            for number in 0..<50 {
                let caller = BudgetCaller(app: Topic("com.example.app\(number)"))
                group.addTask { try? budget.take(1000, for: caller, room: 10_000) }
            }
            return await group.reduce(into: [BudgetPermit]()) { permits, permit in
                if let permit { permits.append(permit) }
            }
        }
        // The last thousand are not left to one app.
        #expect(permits.count == 9 && budget.usage.held == 9000)
        for permit in permits { permit.end() }
        #expect(budget.usageByApp.isEmpty)
    }
}
