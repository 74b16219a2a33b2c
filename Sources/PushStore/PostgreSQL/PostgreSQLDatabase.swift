#if PostgreSQL
import Dispatch
import Foundation
import PushSupport
import PushTypes

/// A database of PostgreSQL. Transactions that write are serializable, except those of the ledger, which lock rows
/// (docs/decisions/0055).
final class PostgreSQLDatabase: StoreDatabase {
    let isShared: Bool
    let apps = AppCache()
    private let settings: PostgreSQLSettings
    private let pool: PostgreSQLPool
    private let limits: QueryLimits

    init(_ settings: PostgreSQLSettings, pool: PostgreSQLPool.Limits, limits: QueryLimits, isShared: Bool) {
        (self.settings, self.limits, self.isShared) = (settings, limits, isShared)
        self.pool = PostgreSQLPool(settings, limits: pool, columns: PostgreSQLSchema.columns)
    }

    // Reads.

    func lookup<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.named(self.limits.lookup) { try await self.pool.read(within: self.limits.lookup, body) }
    }

    func query<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.query(from: ()) { database, _ in .done(try body(database)) }
    }

    /// Runs a query in steps, each of which is a transaction. The time budget bounds each statement of a step by what the
    /// steps before have left of it.
    func query<State: Sendable, Value: Sendable>(
        from state: State,
        _ step: @escaping @Sendable (any SQLConnection, State) throws -> QueryStep<State, Value>
    ) async throws -> Value {
        let caller = QueryCaller.current
        var (state, rest) = (state, caller?.budget)
        while true {
            let limit = caller?.givenUpAt.map { min($0 - .now, rest ?? .zero) } ?? rest
            if let caller, let limit, limit <= .zero { throw StoreError.queryTooExpensive(budget: caller.budget) }
            let (result, used) = try await self.named(caller?.budget) {
                try await self.pool.read(.queries, within: limit) { [state] database in
                    let start = ContinuousClock.now
                    let result = try step(database, state)
                    return (result, ContinuousClock.now - start)
                }
            }
            switch result {
            case .done(let value): return value
            case .next(let next): (state, rest) = (next, rest.map { $0 - used })
            }
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.named { try await self.pool.read(.reads, body) }
    }

    /// Reads for a background service. Nothing interrupts a read.
    func readOnce<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value? {
        try await self.read(body)
    }

    // Writes.

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.write(.serializable, body)
    }

    func writeLedger<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.write(.readCommitted, body)
    }

    func writeHeartbeat<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try await self.write(.readCommitted, in: .heartbeats, body)
    }

    private func write<Value: Sendable>(
        _ isolation: PostgreSQLConnection.Isolation,
        in lane: PostgreSQLPool.Lane = .commits,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        do {
            let (value, hasChangedApps) = try await self.pool.write(lane, isolation) { database in
                (try body(database), try PostgreSQLSchema.hasChangedApps(in: database))
            }
            if hasChangedApps { self.apps.forget() }
            return value
        } catch {
            if let error = error as? PostgreSQLError, error.isCommitUnknown {
                self.apps.forget()
                // The transaction may still commit, and would make outdated all that is read until the server has ended it.
                let end = DispatchTime.now() + self.settings.longestAnswer / .seconds(1)
                DispatchQueue.global().asyncAfter(deadline: end) { [apps] in apps.forget() }
            }
            throw Self.named(error)
        }
    }

    /// Removes all deleted rows from their pages, and what indexes have of them. When the server overwrites the space, and
    /// how long its log and its backups keep it, is the operator's choice.
    /// - Returns: `false` if a snapshot from before the call lasts longer than ``PostgreSQLSettings/lockTimeout``. `VACUUM`
    ///   does not wait for it, but leaves the rows that it sees.
    func overwriteDeleted() async throws -> Bool {
        try await self.named {
            try await runBlocking { [settings = self.settings] in
                let connection = try PostgreSQLConnection(settings.forMaintenance)
                guard try connection.waitForSnapshots(within: settings.lockTimeout) else { return false }
                let tables = StoredTable.all.map(\.name).joined(separator: ", ")
                // Few entries of deleted rows would be left in an index.
                try connection.command("VACUUM (INDEX_CLEANUP ON) \(tables)")
                return true
            }
        }
    }

    // Maintenance.

    var queryCounts: (running: Int, waiting: Int) { self.pool.counts(.queries) }

    func migrations() async throws -> [String] { try await self.lookup { try PostgreSQLSchema.applied(in: $0) } }

    func faults(isAtRest: Bool, masterKey: MasterKey?) async throws -> [String] {
        try await self.read { try IntegrityCheck.brokenRules(in: $0, isAtRest: isAtRest, masterKey: masterKey) }
    }

    func clock() async throws -> Timestamp {
        let milliseconds = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
        return Timestamp(milliseconds: try await self.lookup { try $0.integer(sql: milliseconds) } ?? 0)
    }

    func changes() async throws -> [StoreChange: Int64] { try await self.lookup(PostgreSQLChanges.read) }

    /// Rejects new long queries, and further statements of running ones. A running statement ends with its time budget:
    /// until version 17, libpq could cancel it only through a connection without TLS.
    func endQueries() { self.pool.endQueries() }

    func close() async throws { await self.pool.close() }

    // Errors.

    /// Runs `body`, and replaces an error that it throws.
    /// - Parameter budget: The time budget of a query; `nil` if there is none.
    private func named<Value>(_ budget: Duration? = nil, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch { throw Self.named(error, budget) }
    }

    static func named(_ error: any Error, _ budget: Duration? = nil) -> any Error {
        guard let error = error as? PostgreSQLError else { return error }
        switch error.kind {
        case .timeout:
            return budget.map(StoreError.queryTooExpensive) ?? StoreError.unavailable(why: error.description)
        case .unavailable, .serialization, .readOnly: return StoreError.unavailable(why: error.description)
        case .cannotWrite: return StoreError.cannotWrite(why: error.description)
        case .foreignKey: return ForeignKeyViolation()
        case .unique, .other: return error
        }
    }
}

extension PostgreSQLConnection {
    /// Waits until no other transaction of the database has a snapshot from before the call.
    /// - Returns: `false` if one still has it at the end of the time.
    fileprivate func waitForSnapshots(within time: Duration) throws -> Bool {
        let end = ContinuousClock.now + time
        let present = "SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS xid) AS text)"
        let next: String? = try self.value(sql: present)
        let sql = """
            SELECT 1 FROM (
                SELECT unnest(ARRAY[backend_xmin, backend_xid]) AS xid FROM pg_stat_activity
                WHERE pid != pg_backend_pid() AND (datname IS NULL OR datname = current_database())
                UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
                UNION ALL SELECT xmin FROM pg_replication_slots) AS held
            WHERE age(xid) > age(CAST(? AS xid)) LIMIT 1
            """
        while try self.hasRow(sql: sql, [next]) {
            guard ContinuousClock.now < end else { return false }
            Thread.sleep(forTimeInterval: 0.05)
        }
        return true
    }
}
#endif
