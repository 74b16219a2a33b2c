import Foundation
import GRDB
import PushSupport

/// The connections that answer people, apart from those that the dispatcher reads with: look-ups by key, and questions
/// that may walk over everything. Each has its own connections, so that none waits for another kind.
struct StoreReaders: Sendable {
    /// Time for a look-up or a short list.
    private static let lookup: Duration = .seconds(5)
    /// Long questions at a time: one, because it works as hard as it can.
    private static let running = 1
    /// Pages of exports that wait, and those of one key.
    private static let exportsWaiting = (all: 32, ofKey: 8)
    /// Time of the first attempts at questions of one key: a fifth of what passes, and so many seconds at once. Beyond that
    /// they wait for a turn.
    private static let attemptShare = 0.2
    private static let attemptBurst = 0.25
    /// The turn of a query lasts on for half as long as the query took, and at most this, so that none follows at once.
    private static let longestRest: Duration = .milliseconds(50)
    /// Counts of recipients, which do not belong to a key, wait for each other only.
    private static let countsWaiting = 64
    private static let lookupConnections = 2
    /// Beyond those that run at length.
    private static let attemptConnections = 2

    private let lookups: DatabasePool
    private let queries: DatabasePool
    private let limits: QueryLimits
    let questions: QueryGate
    let exports: QueryGate
    let counts: QueryGate
    private let attempts = KeyedRateLimiter<UUID>(rate: StoreReaders.attemptShare, burst: StoreReaders.attemptBurst)

    init(path: String, limits: QueryLimits) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = Self.lookupConnections
        self.lookups = try DatabasePool(path: path, configuration: configuration)
        configuration.maximumReaderCount = 3 * Self.running + Self.attemptConnections
        self.queries = try DatabasePool(path: path, configuration: configuration)
        self.limits = limits
        let turns = QueryQueue.Limits(
            running: Self.running,
            waiting: limits.waiting,
            waitingPerKey: limits.waitingPerKey
        )
        self.questions = QueryGate(limits: turns, patience: limits.patience)
        let exports = QueryQueue.Limits(
            running: Self.running,
            waiting: Self.exportsWaiting.all,
            waitingPerKey: Self.exportsWaiting.ofKey
        )
        self.exports = QueryGate(limits: exports, patience: limits.patience)
        let counts = QueryQueue.Limits(
            running: Self.running,
            waiting: Self.countsWaiting,
            waitingPerKey: Self.countsWaiting
        )
        self.counts = QueryGate(limits: counts, patience: limits.patience)
    }

    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.read(self.lookups, budget: Self.lookup, rests: false, body)
    }

    /// For a task without an ``QueryCaller`` there is no limit.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, ``StoreError/tooManyQueries``, `CancellationError`.
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        guard let asker = QueryCaller.current else { return try await self.queries.read(body) }
        if self.mayAttempt(asker) {
            let start = ContinuousClock.now
            let budget = min(self.limits.attempt, asker.budget)
            defer { self.giveBack(self.limits.attempt - (ContinuousClock.now - start), asker) }
            do {
                return try await self.read(self.queries, budget: budget, rests: false, body)
            } catch StoreError.queryTooExpensive where asker.budget > self.limits.attempt {}
        }
        return try await self.gate(asker).run(for: asker.key) {
            let start = ContinuousClock.now
            let value = try await self.read(self.queries, budget: asker.budget, rests: true, body)
            if asker.purpose != .acceptance {
                let rest = min((ContinuousClock.now - start) / 2, Self.longestRest)
                try await Task.sleep(for: rest, clock: .continuous)
            }
            return value
        }
    }

    private func gate(_ asker: QueryCaller) -> QueryGate {
        switch asker.purpose {
        case .question: self.questions
        case .export: self.exports
        case .acceptance: self.counts
        }
    }

    /// Who has asked something long before is not given another free attempt meanwhile, nor who attempts all the time. The
    /// time of an attempt is taken when it begins, so that many at once find none.
    private func mayAttempt(_ asker: QueryCaller) -> Bool {
        switch asker.purpose {
        case .export: return false
        case .acceptance: return true
        case .question:
            guard let key = asker.key else { return true }
            let now = ContinuousClock.now
            return !self.questions.isBusy(key)
                && self.attempts.with(key, now: now) {
                    $0.take(self.limits.attempt / .seconds(1), now: now) == nil
                }
        }
    }

    /// What an attempt did not need; less than nothing if it needed more.
    private func giveBack(_ time: Duration, _ asker: QueryCaller) {
        guard asker.purpose == .question, let key = asker.key else { return }
        let now = ContinuousClock.now
        _ = self.attempts.with(key, now: now) { $0.spend(-(time / .seconds(1)), now: now) }
    }

    private func read<Value: Sendable>(
        _ pool: DatabasePool,
        budget: Duration,
        rests: Bool,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let isEnding: @Sendable () -> Bool = { self.questions.isEnding }
        do {
            return try await pool.read { database in
                try QueryDeadline(budget: budget, rests: rests, isEnding: isEnding).run(database, body)
            }
        } catch QueryDeadline.Stop.outOfTime {
            throw StoreError.queryTooExpensive(budget: budget)
        } catch QueryDeadline.Stop.ending {
            throw StoreError.ending
        }
    }

    /// Runs `body` while no long query holds a snapshot.
    func whileIdle<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await self.questions.whileIdle {
            try await self.exports.whileIdle { try await self.counts.whileIdle(body) }
        }
    }

    /// Long queries are interrupted, and no new ones begin.
    func end() {
        self.questions.end()
        self.exports.end()
        self.counts.end()
    }

    func close() throws {
        self.end()
        try self.lookups.close()
        try self.queries.close()
    }
}
