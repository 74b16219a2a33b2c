import Foundation
import GRDB
import PushSupport

/// The connections for requests of the API, apart from those of the dispatcher: one set for look-ups by key, and one
/// for queries that may visit everything, so that neither kind waits for the other.
struct StoreReaders: Sendable {
    /// The longest time of a look-up or a short list.
    private static let lookup: Duration = .seconds(5)
    /// The number of long queries at a time: one, because it uses a whole core.
    private static let running = 1
    /// The most pages of exports that wait, of all keys and of one key.
    private static let exportsWaiting = (all: 32, ofKey: 8)
    /// The share of time for first attempts at queries of one key. Beyond that its queries wait.
    private static let attemptShare = 0.2
    /// The seconds of first attempts that one key may use at once.
    private static let attemptBurst = 0.25
    /// The longest pause after a query, which is half as long as the query took, before the next one begins.
    private static let longestRest: Duration = .milliseconds(50)
    /// The most counts of recipients that wait. They have no key, and wait for each other only.
    private static let countsWaiting = 64
    private static let lookupConnections = 2
    /// The connections for first attempts.
    private static let attemptConnections = 2

    private let lookupPool, queryPool: ReaderPool
    private let limits: QueryLimits
    let queryGate, exportGate, countGate: QueryGate
    private let attempts = TokenBucketTable<UUID>(rate: StoreReaders.attemptShare, burst: StoreReaders.attemptBurst)

    init(path: String, limits: QueryLimits) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = Self.lookupConnections
        self.lookupPool = ReaderPool(try DatabasePool(path: path, configuration: configuration))
        configuration.maximumReaderCount = 3 * Self.running + Self.attemptConnections
        self.queryPool = ReaderPool(try DatabasePool(path: path, configuration: configuration))
        self.limits = limits
        let patience = limits.patience
        func gate(waiting: Int, ofKey: Int) -> QueryGate {
            let limits = QueryQueue.Limits(running: Self.running, waiting: waiting, waitingPerKey: ofKey)
            return QueryGate(limits: limits, patience: patience)
        }
        self.queryGate = gate(waiting: limits.waiting, ofKey: limits.waitingPerKey)
        self.exportGate = gate(waiting: Self.exportsWaiting.all, ofKey: Self.exportsWaiting.ofKey)
        self.countGate = gate(waiting: Self.countsWaiting, ofKey: Self.countsWaiting)
    }

    /// Runs a look-up or a short list.
    func lookup<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await self.read(self.lookupPool, budget: Self.lookup, rests: false, body)
    }

    /// Runs a query that may visit many rows: a short first attempt at once, then within the caller's budget after
    /// those that wait already. Without a ``QueryCaller`` there is no limit.
    /// - Throws: ``StoreError/queryTooExpensive(budget:)``, ``StoreError/tooManyQueries``, `CancellationError`.
    func query<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        guard let caller = QueryCaller.current else { return try await self.queryPool.read(body) }
        if self.mayAttempt(caller) {
            let start = ContinuousClock.now
            let budget = min(self.limits.attempt, caller.budget)
            defer { self.giveBack(self.limits.attempt - (ContinuousClock.now - start), caller) }
            do {
                return try await self.read(self.queryPool, budget: budget, rests: false, body)
            } catch StoreError.queryTooExpensive where caller.budget > self.limits.attempt {}
        }
        return try await self.gate(caller).run(for: caller.key) {
            let start = ContinuousClock.now
            let value = try await self.read(self.queryPool, budget: caller.budget, rests: true, body)
            if caller.purpose != .acceptance {
                let rest = min((ContinuousClock.now - start) / 2, Self.longestRest)
                try await Task.sleep(for: rest, clock: .continuous)
            }
            return value
        }
    }

    private func gate(_ caller: QueryCaller) -> QueryGate {
        switch caller.purpose {
        case .request: self.queryGate
        case .export: self.exportGate
        case .acceptance: self.countGate
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
            guard let key = caller.key else { return true }
            let now = ContinuousClock.now
            return !self.queryGate.isBusy(key)
                && self.attempts.with(key, now: now) {
                    $0.take(self.limits.attempt / .seconds(1), now: now) == nil
                }
        }
    }

    /// Returns the time that an attempt did not need; a negative time if it needed more.
    private func giveBack(_ time: Duration, _ caller: QueryCaller) {
        guard caller.purpose == .request, let key = caller.key else { return }
        let now = ContinuousClock.now
        _ = self.attempts.with(key, now: now) { $0.spend(-(time / .seconds(1)), now: now) }
    }

    private func read<Value: Sendable>(
        _ pool: ReaderPool,
        budget: Duration,
        rests: Bool,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let isEnding: @Sendable () -> Bool = { self.queryGate.isEnding }
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
        try await self.queryGate.whileIdle {
            try await self.exportGate.whileIdle { try await self.countGate.whileIdle(body) }
        }
    }

    /// Interrupts long queries, and lets no new ones begin.
    func end() {
        self.queryGate.end()
        self.exportGate.end()
        self.countGate.end()
    }

    func close() throws {
        self.end()
        try self.lookupPool.database.close()
        try self.queryPool.database.close()
    }
}
