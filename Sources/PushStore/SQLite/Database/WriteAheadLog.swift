import GRDB
import GRDBSQLite
import PushSupport
import Synchronization

/// The write-ahead log of an open store. ``LogStateMachine`` decides when it is emptied, so that it stays bounded.
final class WriteAheadLog: Sendable {
    private struct State {
        var machine: LogStateMachine
        /// The callers that wait until the truncating checkpoint in progress has finished.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The number of running reads that keep their snapshots even during a truncating checkpoint.
        var lasting = 0
        /// A value for which a checkpoint waits, or `nil` if no checkpoint is waiting. It is set when the last of the
        /// ``lasting`` reads has finished, or when the checkpoint has waited too long for them.
        var lastingEnd: OneShotValue<Void>?
    }

    /// The maximum time that a statement waits for a lock, in milliseconds. Truncating checkpoints have a shorter one.
    private static let timeout = 5000

    private let limits: LogStateMachine.Limits
    private let state: Mutex<State>
    private let folding = Atomic(false)

    init(limits: LogStateMachine.Limits) {
        self.limits = limits
        self.state = Mutex(State(machine: LogStateMachine(limits: limits)))
    }

    /// A Boolean value that indicates whether readers, which poll it, have to renew their snapshots for a checkpoint.
    var isFolding: Bool { self.folding.load(ordering: .relaxed) }

    var admitsWriter: Bool { self.state.withLock { $0.machine.admitsWriter(now: .now) } }

    var folds: (complete: Int, prevented: Int) { self.state.withLock { $0.machine.folds } }

    /// Installs a hook for the commits of the writer's connection, which replaces SQLite's automatic checkpoints.
    func watch(_ writer: Database) {
        sqlite3_wal_hook(
            writer.sqliteConnection,
            { log, connection, name, pages in
                guard let log else { return SQLITE_OK }
                let isLong = Unmanaged<WriteAheadLog>.fromOpaque(log).takeUnretainedValue().commit(pages: Int(pages))
                // If a snapshot prevents the checkpoint, the next commit tries again.
                if isLong { sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    private func commit(pages: Int) -> Bool { self.state.withLock { $0.machine.commit(pages: pages) } }

    /// Runs a truncating checkpoint if the log is long. If the log has no room left and another caller's checkpoint is
    /// in progress, it waits for that one.
    func foldIfLong(_ pool: DatabasePool) async {
        switch self.turn(.length) {
        case .fold:
            let isSoon = self.state.withLock { $0.lasting == 0 }
            let fold = Task { await self.foldNow(pool) }
            // A writer does not wait for a read that keeps its snapshot.
            if isSoon { _ = await fold.value }
        case .wait: await self.untilFolded()
        case .pass: break
        }
    }

    /// Runs a truncating checkpoint if the log's file is long, unless a snapshot has just prevented one.
    func foldFile(_ pool: DatabasePool) async {
        guard case .fold = self.turn(.fileLength) else { return }
        await self.foldNow(pool)
    }

    /// Runs a truncating checkpoint, regardless of the length of the log.
    /// - Returns: `true`, or `false` if a snapshot prevents it.
    func fold(_ pool: DatabasePool) async -> Bool {
        while case .wait = self.turn(.demand) { await self.untilFolded() }
        return await self.foldNow(pool)
    }

    /// Waits until the truncating checkpoint in progress, if any, has finished.
    func untilFolded() async {
        await withCheckedContinuation { continuation in
            let isFolding = self.state.withLock { state in
                if state.machine.isFolding { state.waiters.append(continuation) }
                return state.machine.isFolding
            }
            if !isFolding { continuation.resume() }
        }
    }

    /// Runs a read that keeps its snapshot and for which truncating checkpoints wait. The read begins once the
    /// checkpoint in progress has finished.
    func whileLasting<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        while !self.beginLasting() { await self.untilFolded() }
        defer { self.endLasting() }
        return try await body()
    }

    private func beginLasting() -> Bool {
        self.state.withLock { state in
            guard !state.machine.isFolding else { return false }
            state.lasting += 1
            return true
        }
    }

    private func endLasting() {
        self.state.withLock { state in
            state.lasting -= 1
            return state.lasting == 0 ? state.lastingEnd : nil
        }?.resolve(.success(()))
    }

    /// Waits until no running read keeps its snapshot. Other reads and writes continue meanwhile.
    /// - Returns: `true`, or `false` if a read still keeps its snapshot after the maximum wait.
    private func untilNoneLasts() async -> Bool {
        let end = self.state.withLock { state -> OneShotValue<Void>? in
            guard state.lasting > 0 else { return nil }
            state.lastingEnd = OneShotValue()
            return state.lastingEnd
        }
        guard let end else { return true }
        let alarm = Task {
            try await Task.sleep(for: self.limits.longPatience, clock: .continuous)
            end.resolve(.success(()))
        }
        defer { alarm.cancel() }
        try? await end.value
        return self.state.withLock { state in
            state.lastingEnd = nil
            return state.lasting == 0
        }
    }

    private func turn(_ reason: LogStateMachine.Reason) -> LogStateMachine.Turn {
        self.state.withLock { $0.machine.turn(reason, now: .now) }
    }

    @discardableResult
    private func foldNow(_ pool: DatabasePool) async -> Bool {
        let noneLasts = await self.untilNoneLasts()
        let isComplete = noneLasts ? await self.truncate(pool) : false
        let waiters = self.state.withLock { state in
            state.machine.end(isComplete: isComplete, isOwn: !noneLasts, now: .now)
            self.folding.store(false, ordering: .relaxed)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        return isComplete
    }

    /// Runs the truncating checkpoint while readers renew snapshots. Returns `false` if a snapshot prevents it.
    private func truncate(_ pool: DatabasePool) async -> Bool {
        let patience = Int(self.limits.patience / .milliseconds(1))
        // The checkpoint runs in its own task, because cancellation would leave the log as it is.
        return await Task {
            try await pool.writeWithoutTransaction { database in
                // The flag is not set earlier, because readers need not wait while the writer is busy.
                self.folding.store(true, ordering: .relaxed)
                try database.execute(sql: "PRAGMA busy_timeout = \(patience)")
                defer { try? database.execute(sql: "PRAGMA busy_timeout = \(Self.timeout)") }
                try database.checkpoint(.truncate)
            }
        }.result.isSuccess
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
