import Foundation
import GRDB
import PushSupport

/// The connections for requests of the API, apart from those of the dispatcher: one set for look-ups by key, and one
/// for queries that may visit everything, so that neither kind waits for the other.
struct StoreReaders: Sendable {
    /// The number of long queries at a time: one, because it uses a whole core.
    private static let running = 1
    /// The longest pause after a query, which is half as long as the query took, before the next one begins.
    private static let longestRest: Duration = .milliseconds(50)
    private static let lookupConnections = 2
    /// The connections for first attempts.
    private static let attemptConnections = 2
    /// The number of times that a read without a budget renews its snapshot, before writers wait for it.
    private static let renewals = 3

    private let lookupPool, queryPool: ReaderPool
    private let log: WriteAheadLog
    private let limits: QueryLimits
    let queries: Budget
    private let exports, counts: Budget
    /// The time for first attempts at queries of one key. Beyond that its queries wait.
    private let attempts: Budget

    init(path: String, limits: QueryLimits, budgets: Budgets, log: WriteAheadLog) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = Self.lookupConnections
        self.lookupPool = ReaderPool(try DatabasePool(path: path, configuration: configuration))
        configuration.maximumReaderCount = 3 * Self.running + Self.attemptConnections
        self.queryPool = ReaderPool(try DatabasePool(path: path, configuration: configuration))
        (self.limits, self.log) = (limits, log)
        (self.queries, self.exports) = (budgets[.queries], budgets[.exports])
        (self.counts, self.attempts) = (budgets[.counts], budgets[.queryAttempts])
    }

    /// The numbers of long queries that run and that wait.
    var queryCounts: (running: Int, waiting: Int) {
        let usage = self.queries.usage
        return (usage.held, usage.waiting)
    }

    /// Runs a look-up or a short list.
    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        var left = self.limits.lookup
        let result = try await self.read(self.lookupPool, budget: &left, rests: false, from: ()) {
            database,
            _ in
            QueryStep<Void, Value>.done(try body(database))
        }
        switch result {
        case .done(let value): return value
        case .next: throw StoreError.queryTooExpensive(budget: self.limits.lookup)
        }
    }

    /// Reads for a service of the provider, without a budget. A read that had to renew its snapshot too often keeps it.
    func serve<Value: Sendable>(
        _ pool: ReaderPool,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        for _ in 0..<Self.renewals {
            do {
                return try await pool.read { try QueryDeadline(nil, log: self.log).run($0, body) }
            } catch QueryDeadline.Stop.renewal {
                await self.log.untilFolded()
            }
        }
        return try await self.log.whileLasting { try await pool.read(body) }
    }

    /// Runs a query that may visit many rows: a short first attempt at once, then within the caller's budget after
    /// those that wait already. Without a ``QueryCaller`` there is no limit.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, `BudgetRefusal`, `CancellationError`.
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.query(from: ()) { database, _ in .done(try body(database)) }
    }

    /// Runs a query in steps, each of which reads in a snapshot of its own. Its budget is that of all steps together.
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        guard let caller = QueryCaller.current else {
            var state = state
            while true {
                switch try await self.serve(self.queryPool, { [state] in try step($0, state) }) {
                case .done(let value): return value
                case .next(let next): state = next
                }
            }
        }
        if let value = try await self.attempt(caller, from: state, step) { return value }
        return try await self.turns(caller, from: state, step)
    }

    /// Makes a short first attempt at a query, which waits for no other.
    /// - Returns: `nil` if the caller may make none, or the query takes longer.
    private func attempt<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
    ) async throws -> Value? {
        guard self.mayAttempt(caller) else { return nil }
        let budget = min(self.limits.attempt, caller.budget)
        var left = budget
        defer { self.giveBack(self.limits.attempt - (budget - left), caller) }
        do {
            let result = try await self.read(self.queryPool, budget: &left, rests: false, from: state, step)
            guard case .done(let value) = result else { return nil }
            return value
        } catch StoreError.queryTooExpensive where caller.budget > self.limits.attempt {
            return nil
        }
    }

    /// Runs a query once it is its caller's turn. One of several steps has a new turn each ``QueryLimits/turn``, so that it
    /// delays others no longer than that; its budget is the time of its own turns.
    func turns<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        var (state, left) = (state, caller.budget)
        while true {
            let permit = try await self.permit(caller)
            defer { permit.end() }
            let start = ContinuousClock.now
            do {
                let result = try await self.read(
                    self.queryPool,
                    budget: &left,
                    rests: true,
                    until: start + self.limits.turn,
                    from: state,
                    step
                )
                if case .next(let next) = result { state = next }
                if caller.purpose != .acceptance {
                    let rest = min((ContinuousClock.now - start) / 2, Self.longestRest)
                    try await Task.sleep(for: rest, clock: .continuous)
                }
                if case .done(let value) = result { return value }
            } catch StoreError.queryTooExpensive {
                throw StoreError.queryTooExpensive(budget: caller.budget)
            }
        }
    }

    private func permit(_ caller: QueryCaller) async throws -> BudgetPermit {
        do {
            return try await self.budget(caller).wait(for: caller.account)
        } catch is BudgetEnded {
            throw StoreError.ending
        }
    }

    private func budget(_ caller: QueryCaller) -> Budget {
        switch caller.purpose {
        case .request: self.queries
        case .export: self.exports
        case .acceptance: self.counts
        }
    }

    /// Returns `true` if a caller may make a first attempt. A key with a long query in the queue may not, nor may one that
    /// has used its share of time. The time of an attempt is taken when it begins, so that many at once do not get
    /// more.
    private func mayAttempt(_ caller: QueryCaller) -> Bool {
        switch caller.purpose {
        case .export: return false
        case .acceptance: return true
        case .request:
            guard caller.account.identity != .app else { return true }
            guard self.queries.usage(of: caller.account) == (0, 0) else { return false }
            let milliseconds = Self.milliseconds(self.limits.attempt)
            return (try? self.attempts.spend(milliseconds, for: caller.account)) != nil
        }
    }

    private static func milliseconds(_ time: Duration) -> Int { Int((time / .milliseconds(1)).rounded()) }

    /// Returns the time that an attempt did not need; a negative time if it needed more.
    private func giveBack(_ time: Duration, _ caller: QueryCaller) {
        guard caller.purpose == .request, caller.account.identity != .app else { return }
        self.attempts.giveBack(Self.milliseconds(time), for: caller.account)
    }

    /// Runs the steps of a query within a budget. The time in which it waits for a fold of the log is not its own.
    /// - Parameters:
    ///   - left: The budget, and then what is left of it.
    ///   - end: The end of its turn, after which no further step begins; `nil` for none.
    /// - Returns: The result, or the state after the last step of the turn.
    private func read<State: Sendable, Value: Sendable>(
        _ pool: ReaderPool,
        budget left: inout Duration,
        rests: Bool,
        until end: ContinuousClock.Instant? = nil,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
    ) async throws -> QueryStep<State, Value> {
        let isEnding: @Sendable () -> Bool = { self.queries.hasEnded }
        let budget = left
        var deadline = ContinuousClock.now + budget
        defer { left = deadline - ContinuousClock.now }
        var state = state
        while true {
            do {
                let result = try await pool.read { [state, deadline] database in
                    try QueryDeadline(deadline, log: self.log, rests: rests, isEnding: isEnding)
                        .run(database) { try step($0, state) }
                }
                guard case .next(let next) = result else { return result }
                state = next
                if let end, ContinuousClock.now >= end { return result }
            } catch QueryDeadline.Stop.renewal {
                let start = ContinuousClock.now
                await self.log.untilFolded()
                deadline += ContinuousClock.now - start
            } catch QueryDeadline.Stop.outOfTime {
                throw StoreError.queryTooExpensive(budget: budget)
            } catch QueryDeadline.Stop.ending {
                throw StoreError.ending
            }
            if ContinuousClock.now >= deadline { throw StoreError.queryTooExpensive(budget: budget) }
        }
    }

    /// Interrupts long queries, and lets no new ones begin.
    func end() {
        for budget in [self.queries, self.exports, self.counts] { budget.end() }
    }

    func close() throws {
        self.end()
        try self.lookupPool.database.close()
        try self.queryPool.database.close()
    }
}
