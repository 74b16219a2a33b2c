import GRDB
import GRDBSQLite
import Synchronization

/// The write-ahead log of an open store, whose length ``LogStateMachine`` bounds.
final class WriteAheadLog: Sendable {
    private struct State {
        var machine: LogStateMachine
        /// The callers that wait until the log has been folded.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// The time in milliseconds for which other statements wait for a lock.
    private static let timeout = 5000

    private let limits: LogStateMachine.Limits
    private let state: Mutex<State>
    private let folding = Atomic(false)
    /// The number of reads that do not renew their snapshots.
    private let lasting = Atomic(0)

    init(limits: LogStateMachine.Limits) {
        self.limits = limits
        self.state = Mutex(State(machine: LogStateMachine(limits: limits)))
    }

    /// Indicates whether readers have to renew their snapshots. It is read often, while a query works.
    var isFolding: Bool { self.folding.load(ordering: .relaxed) }

    var admitsWriter: Bool { self.state.withLock { $0.machine.admitsWriter(now: .now) } }

    /// The numbers of times the log was folded, and that a snapshot prevented it.
    var folds: (complete: Int, prevented: Int) { self.state.withLock { $0.machine.folds } }

    /// Watches the commits of the writer's connection, in place of SQLite's automatic checkpoints.
    func watch(_ writer: Database) {
        sqlite3_wal_hook(
            writer.sqliteConnection,
            { log, connection, name, pages in
                guard let log else { return SQLITE_OK }
                let isLong = Unmanaged<WriteAheadLog>.fromOpaque(log).takeUnretainedValue().commit(pages: Int(pages))
                // A snapshot may prevent it: then the next commit does it.
                if isLong { sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func commit(pages: Int) -> Bool { self.state.withLock { $0.machine.commit(pages: pages) } }

    /// Folds the log if it is long, or waits until another caller has.
    func foldIfLong(_ pool: DatabasePool) async {
        switch self.turn(.length) {
        case .fold: await self.foldNow(pool)
        case .wait: await self.untilFolded()
        case .pass: break
        }
    }

    /// Folds a log whose file is long, unless a snapshot prevented that a moment ago.
    func foldFile(_ pool: DatabasePool) async {
        guard case .fold = self.turn(.fileLength) else { return }
        await self.foldNow(pool)
    }

    /// Folds the log, whatever its length is.
    /// - Returns: `false` if a snapshot prevents it.
    func fold(_ pool: DatabasePool) async -> Bool {
        while case .wait = self.turn(.demand) { await self.untilFolded() }
        return await self.foldNow(pool)
    }

    /// Waits while the log is being folded.
    func untilFolded() async {
        await withCheckedContinuation { continuation in
            let isFolding = self.state.withLock { state in
                if state.machine.isFolding { state.waiters.append(continuation) }
                return state.machine.isFolding
            }
            if !isFolding { continuation.resume() }
        }
    }

    /// Runs a read that does not renew its snapshot, for which writers wait longer.
    func whileLasting<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        self.lasting.add(1, ordering: .relaxed)
        defer { self.lasting.subtract(1, ordering: .relaxed) }
        return try await body()
    }

    private func turn(_ reason: LogStateMachine.Reason) -> LogStateMachine.Turn {
        self.state.withLock { $0.machine.turn(reason, now: .now) }
    }

    @discardableResult
    private func foldNow(_ pool: DatabasePool) async -> Bool {
        let hasLasting = self.lasting.load(ordering: .relaxed) > 0
        let patience = Int((hasLasting ? self.limits.longPatience : self.limits.patience) / .milliseconds(1))
        // A task of its own: one that is cancelled would leave the log as it is.
        let isComplete = await Task {
            try await pool.writeWithoutTransaction { database in
                // Not before: the writer may be busy for long, and readers need not wait for that.
                self.folding.store(true, ordering: .relaxed)
                try database.execute(sql: "PRAGMA busy_timeout = \(patience)")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.timeout)") }
                try database.checkpoint(.truncate)
            }
        }.result.isSuccess
        let waiters = self.state.withLock { state in
            state.machine.end(isComplete: isComplete, isOwn: hasLasting, now: .now)
            self.folding.store(false, ordering: .relaxed)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        return isComplete
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
