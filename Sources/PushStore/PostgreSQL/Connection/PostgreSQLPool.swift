#if PostgreSQL
import PushSupport

/// The connections to PostgreSQL, each with a thread of its own, in lanes that do not wait for each other.
final class PostgreSQLPool: Sendable {
    /// The kinds of calls that have connections of their own.
    enum Lane: CaseIterable, Hashable, Sendable {
        case commits
        /// The short reads, of the dispatcher and of look-ups.
        case reads
        /// The queries that may take long.
        case queries
    }

    struct Limits: Sendable {
        /// The numbers of connections. A lane without a number has one.
        var connections: [Lane: Int] = [.commits: 4, .reads: 4, .queries: 2]
        /// The maximum time for which a call waits for a connection.
        var wait: Duration = .seconds(5)
        /// The maximum number of times that a transaction is repeated because others conflict with it.
        var repeats = 3
        /// The times between two attempts to connect.
        var reconnection = Backoff(base: .milliseconds(100), maximum: .seconds(2))
    }

    private let lanes: [Lane: PostgreSQLLane]
    private let limits: Limits
    private let turns = PostgreSQLTurns()

    /// Creates a pool, whose connections are made by its first calls. ``close()`` ends its threads.
    /// - Parameter columns: The known names of columns by their names in lower case.
    init(_ settings: PostgreSQLSettings, limits: Limits = Limits(), columns: [String: String] = [:]) {
        self.limits = limits
        self.lanes = Dictionary(
            uniqueKeysWithValues: Lane.allCases.map { lane in
                (lane, PostgreSQLLane(lane, settings, limits, columns: columns))
            }
        )
    }

    /// Returns the number of calls of a lane that run, and the number of those that wait for a connection.
    func counts(_ lane: Lane) -> (running: Int, waiting: Int) { self.lanes[lane]?.counts ?? (0, 0) }

    /// Runs `body` in a transaction that has been committed when the method returns.
    ///
    /// The transaction runs again, from its start, when another one conflicts with it. Once it runs, it is not
    /// cancelled.
    /// - Throws: ``PostgreSQLError``. If it is ``PostgreSQLError/isCommitUnknown``, the caller has to look whether the
    ///   transaction was committed.
    func write<Value: Sendable>(
        _ lane: Lane = .commits,
        _ isolation: PostgreSQLConnection.Isolation = .serializable,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.run(lane, isolation, isCancellable: false, body)
    }

    /// Runs `body` on one snapshot. If the task is cancelled, the method returns at once, and the server goes on.
    /// - Parameter limit: The maximum time of a statement, if it is shorter than that of the settings.
    func read<Value: Sendable>(
        _ lane: Lane = .reads,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.run(lane, .snapshot, within: limit, isCancellable: true, body)
    }

    private func run<Value: Sendable>(
        _ lane: Lane,
        _ isolation: PostgreSQLConnection.Isolation,
        within limit: Duration? = nil,
        isCancellable: Bool,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        guard let lane = self.lanes[lane] else { throw StoreError.ending }
        let (repeats, turns) = (self.limits.repeats, self.turns)
        let call = PostgreSQLCall(isCancellable: isCancellable) { session in
            try session.transaction(isolation, within: limit, repeats: repeats, turns, body)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                call.wait(continuation)
                lane.append(call)
                if Task.isCancelled { call.cancel() }
            }
        } onCancel: {
            call.cancel()
        }
    }

    /// Fails the queries that wait and those to come with ``StoreError/ending``, and the running ones with their next
    /// statement.
    func endQueries() { self.lanes[.queries]?.close() }

    /// Fails the calls that wait, and returns once the running ones have finished and all connections are closed.
    func close() async {
        for lane in self.lanes.values { lane.close() }
        for lane in self.lanes.values { await lane.waitUntilClosed() }
    }
}
#endif
