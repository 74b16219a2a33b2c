import GRDB
import PushSupport

/// The read-only connections for API requests, separate from those of the dispatcher. Look-ups by key and queries that
/// may scan whole tables use separate pools, so that neither kind waits for the other.
struct StoreReaders: Sendable {
    /// The maximum number of concurrent long queries: one, because a long query uses a whole core.
    private static let running = 1
    /// The maximum pause after a long query. Otherwise the pause is half as long as the query took.
    private static let longestRest: Duration = .milliseconds(50)
    private static let lookupConnections = 2
    /// The number of connections for the short first attempts at long queries.
    private static let attemptConnections = 2
    /// The maximum number of times that a read without a time budget renews its snapshot. After that it keeps the
    /// snapshot, and truncating checkpoints wait for it.
    private static let renewals = 3

    private let lookupPool, queryPool: ReaderPool
    private let log: WriteAheadLog
    private let limits: QueryLimits
    let queries: Budget
    private let exports, counts: Budget
    /// The time budget of each key and app for first attempts. Once it is used up, queries go straight to the queue.
    private let attempts: Budget

    init(path: String, limits: QueryLimits, budgets: BudgetRegistry, log: WriteAheadLog) throws {
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

    var queryCounts: (running: Int, waiting: Int) {
        let usage = self.queries.usage
        return (usage.held, usage.waiting)
    }

    func lookup<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value
    {
        var limits = QueryDeadline.Limits(end: .now + self.limits.lookup)
        do {
            let result = try await self.read(self.lookupPool, within: &limits, from: ()) { database, _ in
                QueryStep<Void, Value>.done(try body(database))
            }
            if case .done(let value) = result { return value }
        } catch StoreError.queryTooExpensive {}
        throw StoreError.queryTooExpensive(budget: self.limits.lookup)
    }

    /// Reads for a background service, without a time budget. After ``renewals`` interruptions it keeps its snapshot.
    func serve<Value: Sendable>(
        _ pool: ReaderPool,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        for _ in 0..<Self.renewals {
            if let value = try await self.serveOnce(pool, body) { return value }
        }
        return try await self.log.whileLasting { try await pool.read(body) }
    }

    /// Reads for a background service, without a time budget.
    /// - Returns: `nil` if a truncating checkpoint interrupted the read. A smaller read may then succeed.
    func serveOnce<Value: Sendable>(
        _ pool: ReaderPool,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value? {
        do {
            return try await pool.read { try QueryDeadline(log: self.log).run($0, body) }
        } catch QueryDeadline.Stop.renewal {
            await self.log.untilFolded()
            return nil
        }
    }

    /// Runs a query that may read many rows. It makes a short first attempt immediately. If that does not finish, the
    /// query takes turns with others, within the caller's time budget. Without a ``QueryCaller``, there is no limit.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, ``StoreError/queryInterrupted``, ``StoreError/ending``,
    ///   `BudgetRefusal` if too many queries of the caller wait already, or `CancellationError`.
    func query<Value: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> Value) async throws -> Value {
        try await self.query(from: ()) { database, _ in .done(try body(database)) }
    }

    /// Runs a query in steps, each of which uses its own snapshot. The time budget covers all steps together.
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
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

    /// Runs a short first attempt at a query, without waiting in the queue.
    /// - Returns: The result, or `nil` if the caller may not make an attempt or the attempt took too long.
    private func attempt<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> Value? {
        guard self.mayAttempt(caller) else { return nil }
        let budget = min(self.limits.attempt, caller.budget)
        var limits = QueryDeadline.Limits(budget: budget, end: caller.givenUpAt)
        do {
            let result = try await self.read(self.queryPool, within: &limits, from: state) { database, state in
                try self.charging(caller) { try step(database, state) }
            }
            guard case .done(let value) = result else { return nil }
            return value
        } catch StoreError.queryTooExpensive, StoreError.queryInterrupted {
            return nil
        }
    }

    /// Runs a query in the queue. After each ``QueryLimits/turn``, a query of several steps yields to the other
    /// queries. The time budget covers only the query's own turns. For a count of recipients it is processor time,
    /// which other queries do not use up.
    func turns<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        let isCount = caller.purpose == .acceptance
        var state = state
        var limits = QueryDeadline.Limits(
            budget: caller.budget,
            clock: isCount ? .processor : .wall,
            end: caller.givenUpAt,
            rests: true
        )
        let budget = self.budget(caller)
        let permit = try await self.waiting(caller) { try await budget.wait(for: caller.account) }
        defer { permit.end() }
        while true {
            let start = ContinuousClock.now
            let result: QueryStep<State, Value>
            do {
                let end = start + self.limits.turn
                result = try await self.read(self.queryPool, within: &limits, turn: end, from: state, step)
            } catch StoreError.queryTooExpensive {
                throw StoreError.queryTooExpensive(budget: caller.budget)
            }
            if !isCount {
                let rest = min((ContinuousClock.now - start) / 2, Self.longestRest)
                try await Task.sleep(for: rest, clock: .continuous)
            }
            switch result {
            case .done(let value): return value
            case .next(let next): state = next
            }
            _ = try await self.waiting(caller) {
                try await permit.yield()
                return permit
            }
        }
    }

    /// Waits for a turn, but not beyond the caller's deadline.
    private func waiting(
        _ caller: QueryCaller,
        _ turn: @escaping @Sendable () async throws -> BudgetPermit
    ) async throws -> BudgetPermit {
        do {
            guard let end = caller.givenUpAt else { return try await turn() }
            return try await withThrowingTaskGroup(of: BudgetPermit?.self) { group in
                group.addTask { try await turn() }
                group.addTask {
                    try await Task.sleep(until: end, clock: .continuous)
                    return nil
                }
                defer { group.cancelAll() }
                guard let permit = try await group.next() ?? nil
                else { throw StoreError.queryTooExpensive(budget: caller.budget) }
                return permit
            }
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

    /// Returns whether the caller may make a first attempt. For most API requests, this requires that none of the
    /// caller's queries is in the queue.
    private func mayAttempt(_ caller: QueryCaller) -> Bool {
        switch caller.purpose {
        case .export: false
        case .acceptance: true
        case .request: caller.account.identity == .app || self.queries.usage(of: caller.account) == (0, 0)
        }
    }

    /// Runs a step of a first attempt, and charges its time to the budgets of the caller and the app.
    /// - Throws: ``QueryDeadline/Stop/outOfTime`` if either budget is used up.
    private func charging<Value>(_ caller: QueryCaller, _ body: () throws -> Value) throws -> Value {
        // One millisecond is charged in advance, and the rest once the time is known. The number of connections bounds
        // the number of concurrent steps.
        guard (try? self.attempts.spend(for: caller.account)) != nil else { throw QueryDeadline.Stop.outOfTime }
        let start = ContinuousClock.now
        defer {
            let used = Int(((ContinuousClock.now - start) / .milliseconds(1)).rounded())
            self.attempts.giveBack(1 - used, for: caller.account)
        }
        return try body()
    }

    /// The result of a step, or the reason for its interruption, and the time that it took.
    private typealias StepResult<State: Sendable, Value: Sendable> = (
        result: Result<QueryStep<State, Value>, QueryDeadline.Stop>, used: Duration
    )

    /// Runs the steps of a query within its limits. The wait for a connection, truncating checkpoints, and steps that
    /// are repeated after a checkpoint are not charged to the time budget.
    /// - Parameters:
    ///   - limits: The limits. On return they contain the remaining time budget.
    ///   - turn: The end of the turn, after which no further step begins, or `nil` for a turn without an end.
    /// - Returns: The result of the query, or the state after the last step of the turn.
    private func read<State: Sendable, Value: Sendable>(
        _ pool: ReaderPool,
        within limits: inout QueryDeadline.Limits,
        turn: ContinuousClock.Instant? = nil,
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> QueryStep<State, Value> {
        let budget = limits.budget ?? .zero
        let isEnding: @Sendable () -> Bool = { self.queries.hasEnded }
        var (state, renewals) = (state, 0)
        while true {
            guard limits.allowsMore else { throw StoreError.queryTooExpensive(budget: budget) }
            let (result, used) = try await pool.read { [state, limits] database -> StepResult<State, Value> in
                let deadline = QueryDeadline(limits, log: self.log, isEnding: isEnding)
                do {
                    let result = try deadline.run(database) { try step($0, state) }
                    return (.success(result), deadline.used)
                } catch let stop as QueryDeadline.Stop {
                    return (.failure(stop), deadline.used)
                }
            }
            switch result {
            case .success(let result):
                guard case .next(let next) = result else { return result }
                (state, renewals) = (next, 0)
                limits.budget = limits.budget.map { $0 - used }
                if let turn, ContinuousClock.now >= turn { return result }
            case .failure(.renewal):
                renewals += 1
                guard renewals < self.limits.renewals else { throw StoreError.queryInterrupted }
                await self.log.untilFolded()
            case .failure(.outOfTime): throw StoreError.queryTooExpensive(budget: budget)
            case .failure(.ending): throw StoreError.ending
            }
        }
    }

    /// Interrupts running long queries, and rejects new ones.
    func end() {
        for budget in [self.queries, self.exports, self.counts] { budget.end() }
    }

    func close() throws {
        self.end()
        try self.lookupPool.database.close()
        try self.queryPool.database.close()
    }
}

/// A pool of connections whose readers do not block a thread while they wait for a free one.
///
/// GRDB's own pool blocks a thread of libdispatch while all connections are in use. With many databases in a process,
/// no threads could be left for the readers that would free the connections.
struct ReaderPool: Sendable {
    let database: DatabasePool
    private let connections: CountingSemaphore

    init(_ database: DatabasePool) {
        self.database = database
        self.connections = CountingSemaphore(count: database.configuration.maximumReaderCount)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.connections.run { try await self.database.read(body) }
    }
}
