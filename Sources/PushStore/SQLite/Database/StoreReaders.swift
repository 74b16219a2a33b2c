import GRDB
import PushSupport

/// The connections for requests of the API, separate from those of the dispatcher. Look-ups by key and queries that may scan
/// whole tables have sets of their own, so that neither kind waits for the other.
struct StoreReaders: Sendable {
    /// The maximum number of long queries at a time: one, because a long query uses a whole core.
    private static let running = 1
    /// The longest pause between two long queries. The pause is half as long as the query took.
    private static let longestRest: Duration = .milliseconds(50)
    private static let lookupConnections = 2
    /// The number of connections for first attempts at long queries.
    private static let attemptConnections = 2
    /// The number of times that a read without a time budget renews its snapshot. After that it keeps the snapshot, and
    /// folds of the log wait for it.
    private static let renewals = 3

    private let lookupPool, queryPool: ReaderPool
    private let log: WriteAheadLog
    private let limits: QueryLimits
    let queries: Budget
    private let exports, counts: Budget
    /// The time budget for first attempts of each key and app. Once it is used up, their queries wait in the queue.
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

    /// The numbers of long queries that run and that wait in the queue.
    var queryCounts: (running: Int, waiting: Int) {
        let usage = self.queries.usage
        return (usage.held, usage.waiting)
    }

    /// Runs a look-up or a short list.
    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        var limits = QueryDeadline.Limits(end: .now + self.limits.lookup)
        do {
            let result = try await self.read(self.lookupPool, within: &limits, from: ()) { database, _ in
                QueryStep<Void, Value>.done(try body(database))
            }
            if case .done(let value) = result { return value }
        } catch StoreError.queryTooExpensive {}
        throw StoreError.queryTooExpensive(budget: self.limits.lookup)
    }

    /// Reads for a service of the provider, without a time budget. A read that had to renew its snapshot too often keeps it.
    func serve<Value: Sendable>(
        _ pool: ReaderPool,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        for _ in 0..<Self.renewals {
            if let value = try await self.serveOnce(pool, body) { return value }
        }
        return try await self.log.whileLasting { try await pool.read(body) }
    }

    /// Reads for a service of the provider, without a time budget.
    /// - Returns: `nil` if the read was interrupted by a fold of the log. A smaller read may end before the next
    ///   fold.
    func serveOnce<Value: Sendable>(
        _ pool: ReaderPool,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value? {
        do {
            return try await pool.read { try QueryDeadline(log: self.log).run($0, body) }
        } catch QueryDeadline.Stop.renewal {
            await self.log.untilFolded()
            return nil
        }
    }

    /// Runs a query that may visit many rows. A short first attempt is made at once. If it does not end in time, the
    /// query runs in turn with others, within the caller's time budget. Without a ``QueryCaller`` there is no limit.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, ``StoreError/queryInterrupted``, `BudgetRefusal`, `CancellationError`.
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.query(from: ()) { database, _ in .done(try body(database)) }
    }

    /// Runs a query in steps, each of which reads a snapshot of its own. The time budget applies to all steps together.
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

    /// Runs a short first attempt at a query, which does not wait in the queue.
    /// - Returns: `nil` if the caller may not make an attempt, or if the query takes longer.
    private func attempt<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
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

    /// Runs a query when it is its caller's turn. A query of several steps takes a new turn after each
    /// ``QueryLimits/turn``, so that it delays others no longer than that. Its time budget covers only its own turns.
    /// For a count of recipients it is processor time, which other queries do not use up.
    func turns<State: Sendable, Value: Sendable>(
        _ caller: QueryCaller,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
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

    /// Waits for a turn, at most until the caller's deadline.
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

    /// Returns `true` if a caller may make a first attempt: if it has no query in the queue.
    private func mayAttempt(_ caller: QueryCaller) -> Bool {
        switch caller.purpose {
        case .export: false
        case .acceptance: true
        case .request: caller.account.identity == .app || self.queries.usage(of: caller.account) == (0, 0)
        }
    }

    /// Runs a step of a first attempt, and charges its time to the caller and the app.
    /// - Throws: ``QueryDeadline/Stop/outOfTime`` if one of them has used up its time.
    private func charging<Value>(_ caller: QueryCaller, _ body: () throws -> Value) throws -> Value {
        // One millisecond is taken at first, and the rest when the time is known. The number of concurrent steps is limited
        // by the connections.
        guard (try? self.attempts.spend(for: caller.account)) != nil else { throw QueryDeadline.Stop.outOfTime }
        let start = ContinuousClock.now
        defer {
            let used = Int(((ContinuousClock.now - start) / .milliseconds(1)).rounded())
            self.attempts.giveBack(1 - used, for: caller.account)
        }
        return try body()
    }

    /// The result of a step, or the reason for which it was interrupted, and the time that it took.
    private typealias StepResult<State: Sendable, Value: Sendable> = (
        result: Result<QueryStep<State, Value>, QueryDeadline.Stop>, used: Duration
    )

    /// Runs the steps of a query within its limits. The time budget does not include the wait for a connection, folds
    /// of the log, and steps that are repeated after a fold.
    /// - Parameters:
    ///   - limits: The limits. The remaining time budget is left in them.
    ///   - turn: The end of the turn, after which no further step begins; `nil` for none.
    /// - Returns: The result, or the state after the last step of the turn.
    private func read<State: Sendable, Value: Sendable>(
        _ pool: ReaderPool,
        within limits: inout QueryDeadline.Limits,
        turn: ContinuousClock.Instant? = nil,
        from state: State,
        _ step: @Sendable (Database, State) throws -> QueryStep<State, Value>
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

    /// Interrupts long queries, and prevents new ones.
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
/// GRDB's own pool blocks a thread of libdispatch while all its connections are in use. With many databases in one process,
/// no threads could be left for the readers that would free the connections.
struct ReaderPool: Sendable {
    let database: DatabasePool
    private let connections: CountingSemaphore

    init(_ database: DatabasePool) {
        self.database = database
        self.connections = CountingSemaphore(count: database.configuration.maximumReaderCount)
    }

    /// Runs a read in one snapshot.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.connections.run { try await self.database.read(body) }
    }
}

/// The result of one step of a query. Each step reads a snapshot of its own, so that none gets old.
enum QueryStep<State: Sendable, Value: Sendable>: Sendable {
    case next(State)
    case done(Value)
}
