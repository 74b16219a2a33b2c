import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Long queries: bounded, interrupted, one at a time, and without delay for anything else.
@Suite(.timeLimit(.patience)) struct StoreReadersTests {
    private static let long: Duration = .seconds(3600)
    private let keys = (0..<8).map { _ in UUID() }

    /// A query that never ends by itself.
    private static func endless(_ database: any SQLConnection) throws -> Int {
        try database.value(
            sql: "WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT count(*) FROM step"
        ) as Int? ?? 0
    }

    private func ask(_ store: SQLStore, _ key: Int, budget: Duration = long) -> Task<Int, any Error> {
        QueryCaller.$current.withValue(QueryCaller(budget: budget, account: BudgetCaller(.principal(self.keys[key])))) {
            Task { try await store.database.query { try Self.endless($0) } }
        }
    }

    private func withStore(
        attempt: Duration = .milliseconds(1),
        turn: Duration = .milliseconds(500),
        _ budgets: [BudgetedResource: BudgetLimits] = [:],
        _ body: (SQLStore, Int64) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var limits = QueryLimits.patient
            (limits.attempt, limits.turn) = (attempt, turn)
            var waiting = BudgetedResource.queries.row.limits
            waiting.patience = Self.long
            let store = try SQLStore(
                path: "\(directory)/provider.sqlite",
                masterKey: try .fixture(1),
                limits: limits,
                budgets: BudgetRegistry([.queries: waiting].merging(budgets) { $1 })
            )
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            try await body(store, app)
            try await store.close()
        }
    }

    @Test func aQueryBeyondItsBudgetIsAborted() async throws {
        try await self.withStore { store, _ in
            for budget in [Duration.zero, .milliseconds(30)] {
                await #expect(throws: StoreError.queryTooExpensive(budget: budget)) {
                    try await self.ask(store, 0, budget: budget).value
                }
            }
            #expect(store.queryCounts == (0, 0))
        }
    }

    /// Of six endless queries one runs. Keys, apps, registrations and the dispatcher are not delayed.
    @Test func manyQueriesDelayNothingElse() async throws {
        try await self.withStore { store, app in
            let queries = (0..<6).map { self.ask(store, $0) }
            try await eventually { store.queryCounts == (1, 5) }
            #expect(try await store.apps().count == 1)
            #expect(try await store.key(hash: [1]) == nil)
            let device = try await store.register(1, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            #expect(try await store.readAll(claim, page: 10).map(\.id) == [device])
            // Neither the acceptance of a campaign nor a short query of another key waits.
            for asker in [
                QueryCaller(budget: Self.long, purpose: .acceptance),
                QueryCaller(budget: Self.long, account: BudgetCaller(.principal(self.keys[7]))),
            ] {
                let count = try await QueryCaller.$current.withValue(asker) {
                    try await store.count(app: app, audience: .everyone, environment: nil)
                }
                #expect(count == 1)
            }
            #expect(store.queryCounts == (1, 5))
            for query in queries { query.cancel() }
        }
    }

    @Test func aKeyWaitsForItselfAndThenIsRejected() async throws {
        try await self.withStore { store, _ in
            let queries = (0..<5).map { _ in self.ask(store, 0) }
            try await eventually { store.queryCounts == (1, 4) }
            await #expect(throws: BudgetRefusal.self) { try await self.ask(store, 0).value }
            for query in queries { query.cancel() }
        }
    }

    /// However many keys of an app ask, another app's query is next.
    @Test func appsTakeTurnsBeforeKeys() async throws {
        try await self.withStore(turn: .patience) { store, _ in
            let readers = try store.sqliteFile.readers
            let isOver = Shared(false)
            let order = Shared<[String]>([])
            func ask(_ app: String, _ key: Int) -> Task<Int, any Error> {
                let account = BudgetCaller(app: Topic(app), .principal(self.keys[key % 8]))
                return Task {
                    try await readers.turns(QueryCaller(budget: Self.long, account: account), from: ()) { _, _ in
                        guard isOver.withLock({ $0 }) else { return QueryStep<Void, Int>.next(()) }
                        order.withLock { $0.append(app) }
                        return .done(key)
                    }
                }
            }
            var queries: [Task<Int, any Error>] = []
            for number in 0..<13 {
                queries.append(ask("com.example.greedy", number))
                try await eventually { store.queryCounts == (1, number) }
            }
            queries.append(ask("com.example.other", 13))
            try await eventually { store.queryCounts == (1, 13) }
            isOver.withLock { $0 = true }
            for query in queries { _ = try await query.value }
            let place = try #require(order.withLock { $0.firstIndex(of: "com.example.other") })
            #expect(place <= 2, "after the one that ran, and one of the other app")
        }
    }

    /// Many keys do not have as many connections and cores.
    @Test func anAppHasItsShareOfFirstAttempts() async throws {
        var limits = BudgetedResource.queryAttempts.row.limits
        #expect(limits.bounds.app != nil)
        limits.bounds.app = .rate(perSecond: 1e-6, burst: 2)
        try await self.withStore([.queryAttempts: limits]) { store, _ in
            func ask(_ app: String, _ body: @escaping @Sendable (any SQLConnection) throws -> Int) -> Task<
                Int, any Error
            > {
                let account = BudgetCaller(app: Topic(app), .principal(UUID()))
                return QueryCaller.$current.withValue(QueryCaller(budget: Self.long, account: account)) {
                    Task { try await store.database.query(body) }
                }
            }
            var greedy: [Task<Int, any Error>] = []
            for number in 0..<3 {
                greedy.append(ask("com.example.greedy", Self.endless))
                try await eventually { store.queryCounts == (1, number) }
            }
            let hasRun = Shared(false)
            greedy.append(
                ask("com.example.greedy") { _ in
                    hasRun.withLock { $0 = true }
                    return 7
                }
            )
            try await eventually { store.queryCounts == (1, 3) || hasRun.withLock { $0 } }
            #expect(!hasRun.withLock { $0 }, "it waits for its turn")
            #expect(try await ask("com.example.other") { _ in 8 }.value == 8)
            for query in greedy { query.cancel() }
        }
    }

    /// The counts of an app are charged too.
    @Test func aCountThatHasNoTimeForAnAttemptWaitsForItsTurn() async throws {
        var limits = BudgetedResource.queryAttempts.row.limits
        limits.bounds.caller = .rate(perSecond: 1e-6, burst: 2)
        let clock = ContinuousClock.now
        try await withTemporaryDirectory { directory in
            let budgets = BudgetRegistry([.queryAttempts: limits], clock: { clock })
            let key = try MasterKey.fixture(1)
            let store = try SQLStore(
                path: "\(directory)/provider.sqlite",
                masterKey: key,
                limits: .patient,
                budgets: budgets
            )
            let account = BudgetCaller(app: Topic("com.example.app"))
            let caller = QueryCaller(budget: Self.long, purpose: .acceptance, account: account)
            for isAttempt in [true, false] {
                let isInTurn = try await QueryCaller.$current.withValue(caller) {
                    try await store.database.query { _ in budgets[.counts].usage.held > 0 }
                }
                #expect(isInTurn != isAttempt)
                // More than its share, once.
                budgets[.queryAttempts].giveBack(-10, for: account)
            }
            try await store.close()
        }
    }

    /// A campaign is paused for the time that it takes, and not for that of others.
    @Test(arguments: [QueryCaller.Purpose.acceptance, .request])
    func theBudgetOfACountIsTheProcessors(purpose: QueryCaller.Purpose) async throws {
        try await self.withStore { store, _ in
            let budget = Duration.milliseconds(100)
            let account = BudgetCaller(app: Topic("com.example.app"))
            let caller = QueryCaller(budget: budget, purpose: purpose, account: account)
            let query = Task {
                try await store.sqliteFile.readers.turns(caller, from: 0) { _, steps in
                    // Others have the processor.
                    Thread.sleep(forTimeInterval: 0.05)
                    return steps == 5 ? QueryStep<Int, Int>.done(steps) : .next(steps + 1)
                }
            }
            if purpose == .acceptance {
                let steps = try await query.value
                #expect(steps == 5)
            } else {
                await #expect(throws: StoreError.queryTooExpensive(budget: budget)) { try await query.value }
            }
        }
    }

    /// Somebody waits for the response, whoever else is counted.
    @Test func aCountIsGivenUpWhileItWaits() async throws {
        try await self.withStore(BudgetLimits.patient) { store, _ in
            let readers = try store.sqliteFile.readers
            let isOver = Shared(false)
            func count(_ app: String, givenUpAt: ContinuousClock.Instant? = nil) async throws -> Int {
                let caller = QueryCaller(
                    budget: Self.long,
                    purpose: .acceptance,
                    account: BudgetCaller(app: Topic(app)),
                    givenUpAt: givenUpAt
                )
                return try await readers.turns(caller, from: 0) { _, steps in
                    isOver.withLock { $0 } ? QueryStep<Int, Int>.done(steps) : .next(steps + 1)
                }
            }
            let others = (0..<16).map { number in Task { try await count("com.example.other\(number)") } }
            await #expect(throws: StoreError.queryTooExpensive(budget: Self.long)) {
                _ = try await count("com.example.app", givenUpAt: .now + .milliseconds(100))
            }
            isOver.withLock { $0 = true }
            for other in others { _ = try await other.value }
        }
    }

    /// Its place is its own, however many others of its app wait.
    @Test func aCountThatRunsIsNotRefused() async throws {
        var limits = BudgetedResource.counts.row.limits
        (limits.waiting, limits.patience) = (.init(whole: 64, app: 1), Self.long)
        try await self.withStore(turn: .zero, [.counts: limits]) { store, _ in
            let readers = try store.sqliteFile.readers
            let isOver = Shared(false)
            func count(_ app: String, until isDone: @escaping @Sendable (Int) -> Bool) -> Task<Int, any Error> {
                let account = BudgetCaller(app: Topic(app))
                let caller = QueryCaller(budget: Self.long, purpose: .acceptance, account: account)
                return Task {
                    try await readers.turns(caller, from: 0) { _, steps in
                        isDone(steps) ? QueryStep<Int, Int>.done(steps) : .next(steps + 1)
                    }
                }
            }
            let haveBegun = Shared<Set<Int>>([])
            let counts = (0..<2).map { number in
                count("com.example.app") { _ in
                    haveBegun.withLock { _ = $0.insert(number) }
                    return isOver.withLock { $0 }
                }
            }
            defer { isOver.withLock { $0 = true } }
            // While the other one has the place, there is room in the queue for one of them.
            try await eventually { haveBegun.withLock(\.count) == 2 }
            // Each of their turns leaves the other one, and this app, in the queue.
            let other = try await count("com.example.other") { $0 == 20 }.value
            #expect(other == 20)
            isOver.withLock { $0 = true }
            for running in counts {
                let steps = try await running.value
                #expect(steps > 0)
            }
        }
    }

    /// A query of several steps gives its turn to others between them.
    @Test func aLongCountLetsOthersHaveATurn() async throws {
        try await self.withStore(turn: .zero, BudgetLimits.patient) { store, _ in
            let readers = try store.sqliteFile.readers
            let hog = Task {
                let caller = QueryCaller(
                    budget: Self.long,
                    purpose: .acceptance,
                    account: BudgetCaller(app: Topic("com.example.hog"))
                )
                return try await readers.turns(caller, from: 0) { _, steps in QueryStep<Int, Int>.next(steps + 1) }
            }
            defer { hog.cancel() }
            for number in 0..<2 {
                let caller = QueryCaller(
                    budget: Self.long,
                    purpose: .acceptance,
                    account: BudgetCaller(app: Topic("com.example.other\(number)"))
                )
                let turn = try await readers.turns(caller, from: ()) { _, _ in QueryStep<Void, Int>.done(number) }
                #expect(turn == number)
            }
        }
    }

    @Test func aQueryThatIsCancelledEnds() async throws {
        try await self.withStore { store, _ in
            let (running, waiting) = (self.ask(store, 0), self.ask(store, 1))
            try await eventually { store.queryCounts == (1, 1) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
            #expect(store.queryCounts == (0, 0))
        }
    }

    @Test func theEndOfTheStoreEndsThem() async throws {
        try await self.withStore { store, _ in
            let (running, waiting) = (self.ask(store, 0), self.ask(store, 1))
            try await eventually { store.queryCounts == (1, 1) }
            store.endQueries()
            await #expect(throws: StoreError.ending) { try await running.value }
            await #expect(throws: StoreError.ending) { try await waiting.value }
            await #expect(throws: StoreError.ending) { try await self.ask(store, 2).value }
        }
    }

    /// Also while it is being looked up by others, and after it was found before.
    @Test func aDeletedKeyIsNotRemembered() async throws {
        try await self.withStore { store, _ in
            let key = APIKeyRecord(id: UUID(), name: "ci", scopes: [.read], createdAt: Vectors.issuedAt)
            try await store.addKey(key, hash: [1])
            #expect(try await store.key(hash: [1]) == key)
            // It is not read from the database again, unless what it allows has changed.
            try await store.database.run(sql: "UPDATE apiKey SET lastUsedAt = 9")
            #expect(try await store.key(hash: [1]) == key)
            try await store.database.run(sql: "UPDATE apiKey SET name = 'other'")
            #expect(try await store.key(hash: [1])?.name == "other")
            #expect(try await store.deleteKey(key.id) == .deleted)
            #expect(try await store.key(hash: [1]) == nil)
        }
    }
}
