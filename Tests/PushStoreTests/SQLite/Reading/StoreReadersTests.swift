import Foundation
import GRDB
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
    private static func endless(_ database: Database) throws -> Int {
        try Int.fetchOne(
            database,
            sql: "WITH RECURSIVE step(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM step) SELECT count(*) FROM step"
        ) ?? 0
    }

    private func ask(_ store: SQLiteStore, _ key: Int, budget: Duration = long) -> Task<Int, any Error> {
        QueryCaller.$current.withValue(QueryCaller(budget: budget, account: BudgetCaller(.principal(self.keys[key])))) {
            Task { try await store.database.query { try Self.endless($0) } }
        }
    }

    private func until(_ isTrue: () async throws -> Bool) async throws {
        while try await !isTrue() { await Task.yield() }
    }

    private func withStore(
        attempt: Duration = .milliseconds(1),
        turn: Duration = .milliseconds(500),
        _ body: (SQLiteStore, Int64) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            var limits = QueryLimits.patient
            (limits.attempt, limits.turn) = (attempt, turn)
            var waiting = Resource.queries.row.limits
            waiting.patience = Self.long
            let store = try SQLiteStore(
                path: "\(directory)/provider.sqlite",
                masterKey: try .fixture(1),
                limits: limits,
                budgets: Budgets([.queries: waiting])
            )
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            try await body(store, app)
            try store.close()
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
            try await self.until { store.queryCounts == (1, 5) }
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
            try await self.until { store.queryCounts == (1, 4) }
            await #expect(throws: BudgetRefusal.self) { try await self.ask(store, 0).value }
            for query in queries { query.cancel() }
        }
    }

    /// However many keys of an app ask, another app's query is next.
    @Test func appsTakeTurnsBeforeKeys() async throws {
        try await self.withStore { store, _ in
            let greedy = (0..<16).map { number in
                let account = BudgetCaller(app: Topic("com.example.greedy"), .principal(self.keys[number % 8]))
                return QueryCaller.$current.withValue(QueryCaller(budget: Self.long, account: account)) {
                    Task { try await store.database.query { try Self.endless($0) } }
                }
            }
            try await self.until { store.queryCounts == (1, 12) }
            let account = BudgetCaller(app: Topic("com.example.other"), .principal(UUID()))
            let other = QueryCaller.$current.withValue(QueryCaller(budget: Self.long, account: account)) {
                Task { try await store.database.query { _ in 7 } }
            }
            #expect(try await other.value == 7, "a short one needs no turn")
            let turn = Task {
                let caller = QueryCaller(budget: Self.long, account: account)
                return try await store.database.readers.turns(caller, from: ()) { _, _ in .done(8) }
            }
            try await self.until { store.queryCounts == (1, 13) }
            for query in greedy { query.cancel() }
            #expect(try await turn.value == 8)
        }
    }

    /// A query of several steps gives its turn to others between them.
    @Test func aLongCountLetsOthersHaveATurn() async throws {
        try await self.withStore(turn: .zero) { store, _ in
            let readers = store.database.readers
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
            try await self.until { store.queryCounts == (1, 1) }
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
            try await self.until { store.queryCounts == (1, 1) }
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
            // It is not read from the database again.
            try await store.database.write { try $0.execute(sql: "UPDATE apiKey SET name = 'other'") }
            #expect(try await store.key(hash: [1]) == key)
            #expect(try await store.deleteKey(key.id) == .deleted)
            #expect(try await store.key(hash: [1]) == nil)
        }
    }
}
