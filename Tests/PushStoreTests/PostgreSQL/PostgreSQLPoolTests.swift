#if PostgreSQL
import Dispatch
import Foundation
import PushSupport
import PushTesting
import Synchronization
import Testing

@testable import PushStore

/// Transactions on the connections of a pool.
@Suite(PostgreSQLServer.isInstalled) struct PostgreSQLPoolTests {
    private final class Counter: Sendable {
        private let value = Mutex(0)
        var count: Int { self.value.withLock { $0 } }

        @discardableResult
        func increment() -> Int {
            self.value.withLock { value in
                value += 1
                return value
            }
        }
    }

    /// Runs a test with a pool, whose schema has a table with one row.
    private func withPool(
        _ lane: PostgreSQLPool.Lane = .commits,
        connections: Int = 2,
        wait: Duration = .seconds(20),
        through proxy: PostgreSQLProxy? = nil,
        lockTimeout: Duration = .seconds(2),
        statementTimeout: Duration = .seconds(30),
        _ body: (PostgreSQLPool) async throws -> Void
    ) async throws {
        var settings = try PostgreSQLServer.shared.empty(folder: proxy?.folder)
        (settings.lockTimeout, settings.statementTimeout) = (lockTimeout, statementTimeout)
        settings.answerGrace = .milliseconds(500)
        var limits = PostgreSQLPool.Limits()
        limits.connections[lane] = connections
        limits.wait = wait
        limits.reconnection = Backoff(base: .milliseconds(20), maximum: .milliseconds(100))
        let pool = PostgreSQLPool(settings, limits: limits)
        let result: Result<Void, any Error>
        do {
            try await pool.write { database in
                try database.run(sql: "CREATE TABLE counter (id bigint PRIMARY KEY, number bigint NOT NULL)")
                try database.run(sql: "INSERT INTO counter VALUES (1, 0)")
            }
            result = .success(try await body(pool))
        } catch {
            result = .failure(error)
        }
        await pool.close()
        return try result.get()
    }

    private func failure(_ body: () async throws -> Void) async throws -> PostgreSQLError {
        try #require(await #expect(throws: PostgreSQLError.self) { try await body() })
    }

    private func number(_ pool: PostgreSQLPool) async throws -> Int {
        try await pool.read { try $0.count(sql: "SELECT number FROM counter WHERE id = 1") }
    }

    private static let increment = "UPDATE counter SET number = number + 1 WHERE id = 1"

    @Test func aWriteIsReadByOthers() async throws {
        try await self.withPool { pool async throws in
            for lane in PostgreSQLPool.Lane.allCases {
                #expect(try await pool.write(lane) { try $0.run(sql: Self.increment) } == 1)
            }
            #expect(try await pool.write(.commits, .readCommitted) { try $0.run(sql: Self.increment) } == 1)
            #expect(try await self.number(pool) == PostgreSQLPool.Lane.allCases.count + 1)
        }
    }

    @Test func anErrorRollsTheTransactionBack() async throws {
        struct Stop: Error {}
        try await self.withPool { pool async throws in
            await #expect(throws: Stop.self) {
                try await pool.write { database in
                    try database.run(sql: Self.increment)
                    throw Stop()
                }
            }
            #expect(try await self.number(pool) == 0)
        }
    }

    /// Two transactions that have read the same before they write: one of them runs again.
    @Test func aTransactionThatConflictsIsRepeated() async throws {
        try await self.withPool { pool async throws in
            let (attempts, both) = (Counter(), DispatchSemaphore(value: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        try await pool.write { database in
                            let number = try database.count(sql: "SELECT number FROM counter WHERE id = 1")
                            switch attempts.increment() {
                            case 1: #expect(both.wait(timeout: .now() + 30) == .success)
                            case 2: both.signal()
                            default: break
                            }
                            try database.run(sql: "UPDATE counter SET number = ? WHERE id = 1", Int64(number + 1))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(attempts.count == 3)
            #expect(try await self.number(pool) == 2)
        }
    }

    /// However many conflicts there are, none ends with an error.
    @Test func aRowIsChangedByManyAtOnce() async throws {
        try await self.withPool(connections: 4) { pool async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<50 {
                            try await pool.write { database in
                                let number = try database.count(sql: "SELECT number FROM counter WHERE id = 1")
                                try database.run(sql: "UPDATE counter SET number = ? WHERE id = 1", Int64(number + 1))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await self.number(pool) == 400)
        }
    }

    @Test(arguments: ["40001", "40P01", "55P03"]) func aTransactionIsRepeatedThreeTimes(state: String) async throws {
        try await self.withPool { pool async throws in
            let attempts = Counter()
            let error = try await self.failure {
                try await pool.write { database in
                    attempts.increment()
                    try database.run(sql: "DO $$ BEGIN RAISE EXCEPTION USING errcode = '\(state)'; END $$")
                }
            }
            #expect(error.kind == .serialization)
            #expect(attempts.count == 4)
        }
    }

    /// A closure that catches the conflict, and throws an error of its own.
    @Test(arguments: [true, false]) func aConflictIsNotHiddenByTheClosure(inAttempt: Bool) async throws {
        struct Stop: Error {}
        try await self.withPool { pool async throws in
            let attempts = Counter()
            let value = try await pool.write { database throws -> Int in
                try database.run(sql: Self.increment)
                guard attempts.increment() < 3 else { return 7 }
                let error = #expect(throws: PostgreSQLError.self) {
                    if inAttempt {
                        try database.attempt { try Self.conflict(in: database) }
                    } else {
                        try Self.conflict(in: database)
                    }
                }
                if let error { #expect(database.hasEnded(after: error)) }
                if attempts.count == 1 { throw Stop() }
                return 0
            }
            #expect(value == 7)
            #expect(try await self.number(pool) == 1)
        }
    }

    private static func conflict(in database: any SQLConnection) throws {
        try database.run(sql: "DO $$ BEGIN RAISE EXCEPTION USING errcode = '40001'; END $$")
    }

    // Prepared statements.

    @Test func aPlanOfAnEarlierSchemaIsReplaced() async throws {
        try await self.withPool(connections: 1) { pool async throws in
            func extra() async throws -> Int? {
                try await pool.write { try $0.row(sql: "SELECT * FROM counter WHERE id = 1")?["extra"] }
            }
            #expect(try await extra() == nil)
            try await pool.write(.queries) { _ = try $0.run(sql: "ALTER TABLE counter ADD COLUMN extra int DEFAULT 5") }
            #expect(try await extra() == 5)
        }
    }

    @Test func plansThatTheServerHasForgottenAreMadeAgain() async throws {
        try await self.withPool(connections: 1) { pool async throws in
            for number in 1...3 {
                #expect(try await pool.write { try $0.run(sql: Self.increment) } == 1)
                try await pool.write { _ = try $0.run(sql: "DEALLOCATE ALL") }
                #expect(try await self.number(pool) == number)
            }
            // Also one of them that the connection gives up to have room.
            try await self.fill(pool)
        }
    }

    /// Prepares more statements than a connection keeps.
    private func fill(_ pool: PostgreSQLPool) async throws {
        try await pool.write { database in
            for number in 0..<600 { try database.run(sql: "SELECT \(number)") }
        }
    }

    /// It is no conflict, however often the statement runs.
    @Test func aStatementThatIsNotSupportedIsAFault() async throws {
        try await self.withPool(connections: 1) { pool async throws in
            for _ in 0..<2 {
                let error = try await self.failure {
                    try await pool.write { database in
                        _ = try database.run(sql: "DO $$ BEGIN RAISE EXCEPTION USING errcode = '0A000'; END $$")
                    }
                }
                #expect(error.kind == .other)
            }
        }
    }

    @Test func aLockIsWaitedForOnlySoLong() async throws {
        try await self.withPool(lockTimeout: .milliseconds(50)) { pool async throws in
            try await pool.write(.queries) { database in
                try database.run(sql: Self.increment)
                let end = DispatchSemaphore(value: 0)
                Task {
                    let error = try? await self.failure { try await pool.write { _ = try $0.run(sql: Self.increment) } }
                    #expect(error?.kind == .serialization)
                    end.signal()
                }
                #expect(end.wait(timeout: .now() + 30) == .success)
            }
        }
    }

    // Lost connections.

    @Test func aConnectionLostBeforeTheCommitHasCommittedNothing() async throws {
        try await self.withPool { pool async throws in
            let error = try await self.failure {
                try await pool.write { database in
                    try database.run(sql: Self.increment)
                    let number = try database.backend
                    try PostgreSQLServer.shared.connection().terminate(number)
                    try database.run(sql: Self.increment)
                }
            }
            #expect(error.kind == .unavailable)
            #expect(!error.isCommitUnknown)
            #expect(try await self.number(pool) == 0)
            // The next transaction gets another connection.
            #expect(try await pool.write { try $0.run(sql: Self.increment) } == 1)
        }
    }

    /// A connection that is found lost with the commit itself: the code cannot tell this from a lost answer.
    @Test(arguments: [true, false]) func aConnectionLostAtTheCommitLeavesItsEndUnknown(duringIt: Bool) async throws {
        try await self.withPool { pool async throws in
            try await pool.write { database in
                let body = "BEGIN PERFORM pg_sleep(60); RETURN NULL; END"
                try database.run(sql: "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ \(body) $$")
                try database.run(
                    sql: """
                        CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON counter DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW EXECUTE FUNCTION slow()
                        """
                )
            }
            let error = try await self.failure {
                try await pool.write { database in
                    let number = try database.backend
                    try database.run(sql: Self.increment)
                    guard duringIt else { return try PostgreSQLServer.shared.connection().terminate(number) }
                    Thread.detachNewThread {
                        do {
                            let other = try PostgreSQLServer.shared.connection()
                            try other.wait(
                                forRow:
                                    "SELECT 1 FROM pg_stat_activity WHERE pid = CAST(? AS int) AND query = 'COMMIT'",
                                [number]
                            )
                            try other.terminate(number)
                        } catch { Issue.record(error) }
                    }
                }
            }
            #expect(error.kind == .unavailable)
            #expect(error.isCommitUnknown)
            #expect("\(error)".contains("unknown"))
            #expect(try await self.number(pool) == 0)
        }
    }

    /// The transaction is committed, but nobody is told.
    @Test func anAnswerLostAfterTheCommitLeavesItsEndUnknown() async throws {
        let proxy = try PostgreSQLProxy(to: PostgreSQLServer.shared.folder)
        defer { proxy.stop() }
        try await self.withPool(through: proxy) { pool async throws in
            proxy.loseAnswers(true)
            let error = try await self.failure { try await pool.write { _ = try $0.run(sql: Self.increment) } }
            #expect(error.kind == .unavailable)
            #expect(error.isCommitUnknown)
            proxy.loseAnswers(false)
            #expect(try await self.number(pool) == 1)
        }
    }

    /// The connections that are lost while nobody uses them are made again without an error.
    @Test func idleConnectionsAreMadeAgain() async throws {
        try await self.withPool(connections: 1) { pool async throws in
            for _ in 0..<3 {
                let number = try await pool.write { try $0.backend }
                try PostgreSQLServer.shared.connection().terminate(number)
                #expect(try await pool.write { try $0.run(sql: Self.increment) } == 1)
            }
            #expect(try await self.number(pool) == 3)
        }
    }

    @Test func aServerThatIsBackInTimeIsNotMissed() async throws {
        let proxy = try PostgreSQLProxy(to: PostgreSQLServer.shared.folder)
        defer { proxy.stop() }
        try await self.withPool(through: proxy) { pool async throws in
            proxy.stop()
            async let change = pool.write { try $0.run(sql: Self.increment) }
            try await Task.sleep(for: .milliseconds(300))
            try proxy.start()
            #expect(try await change == 1)
        }
    }

    @Test func aServerThatStaysAwayIsUnavailableInTime() async throws {
        let proxy = try PostgreSQLProxy(to: PostgreSQLServer.shared.folder)
        defer { proxy.stop() }
        try await self.withPool(wait: .milliseconds(500), through: proxy) { pool async throws in
            proxy.stop()
            for _ in 0..<3 {
                let start = ContinuousClock.now
                let error = try await self.failure { try await pool.write { _ = try $0.run(sql: Self.increment) } }
                #expect(error.kind == .unavailable)
                #expect(!error.isCommitUnknown)
                #expect("\(error)".contains("cannot be reached"))
                #expect(ContinuousClock.now - start < .seconds(10))
            }
        }
    }

    /// A process of the server that is stopped keeps to none of its limits.
    @Test func aServerThatHangsIsLost() async throws {
        try await self.withPool(statementTimeout: .milliseconds(500)) { pool async throws in
            let start = ContinuousClock.now
            let stopped = Mutex<Int64>(0)
            let error = try await self.failure {
                try await pool.write { database in
                    let number = try database.backend
                    stopped.withLock { $0 = number }
                    try #require(kill(pid_t(number), SIGSTOP) == 0, "only the user of the server, or root, can stop it")
                    try database.run(sql: Self.increment)
                }
            }
            kill(pid_t(stopped.withLock { $0 }), SIGCONT)
            #expect(error.kind == .unavailable)
            #expect("\(error)".contains("has not answered"))
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(try await self.number(pool) == 0)
        }
    }

    /// The server takes no more connections, and one of two threads has none.
    @Test func aThreadThatCannotConnectLeavesItsCallsToOthers() async throws {
        let proxy = try PostgreSQLProxy(to: PostgreSQLServer.shared.folder)
        defer { proxy.stop() }
        try await self.withPool(through: proxy) { pool async throws in
            proxy.refuse()
            for _ in 0..<20 { #expect(try await pool.write { try $0.run(sql: Self.increment) } == 1) }
            try proxy.start()
            #expect(try await self.number(pool) == 20)
        }
    }

    // The wait for a connection.

    @Test func aPoolWithoutAFreeConnectionSaysSoInTime() async throws {
        try await self.withPool(connections: 1, wait: .milliseconds(300)) { pool async throws in
            let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let slow = pool.write { database in
                began.signal()
                #expect(end.wait(timeout: .now() + 30) == .success)
                return try database.run(sql: Self.increment)
            }
            await Self.wait(for: began)
            let start = ContinuousClock.now
            await withTaskGroup(of: PostgreSQLError?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try? await self.failure { try await pool.write { _ = try $0.run(sql: Self.increment) } }
                    }
                }
                for await error in group {
                    #expect(error?.kind == .unavailable)
                    #expect(error?.message.contains("no connection of 'commits' was free within 0.3 seconds") == true)
                }
            }
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(pool.counts(.commits).waiting == 0)
            // The other lanes are free.
            #expect(try await self.number(pool) == 0)
            end.signal()
            #expect(try await slow == 1)
            #expect(try await self.number(pool) == 1)
        }
    }

    @Test func aCancelledCallLeavesUnlessItWrites() async throws {
        try await self.withPool(connections: 1) { pool async throws in
            let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let write = Task {
                try await pool.write { database in
                    began.signal()
                    #expect(end.wait(timeout: .now() + 30) == .success)
                    return try database.run(sql: Self.increment)
                }
            }
            await Self.wait(for: began)
            let waiting = Task { try await pool.write { try $0.run(sql: Self.increment) } }
            let read = Task {
                try await pool.read { _ in
                    began.signal()
                    #expect(end.wait(timeout: .now() + 30) == .success)
                }
            }
            await Self.wait(for: began)
            for task in [waiting.cancel, read.cancel, write.cancel] { task() }
            await #expect(throws: CancellationError.self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await read.value }
            for _ in 0..<2 { end.signal() }
            #expect(try await write.value == 1)
            #expect(try await self.number(pool) == 1)
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await pool.write { try $0.run(sql: Self.increment) }
            }
            await #expect(throws: CancellationError.self) { try await early.value }
        }
    }

    /// The running transactions are committed, and the waiting calls fail.
    @Test func aPoolIsClosedUnderLoad() async throws {
        try await self.withPool(connections: 3) { pool async throws in
            let (began, written, end) = (Counter(), Counter(), DispatchSemaphore(value: 0))
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        do {
                            try await pool.write(.commits, .readCommitted) { database in
                                try database.run(sql: "INSERT INTO counter VALUES (?, 0)", Int64(number + 100))
                                guard began.increment() > 30 else { return }
                                #expect(end.wait(timeout: .now() + 30) == .success)
                            }
                            written.increment()
                        } catch {
                            #expect(error as? StoreError == .ending)
                        }
                    }
                }
                group.addTask {
                    while began.count < 33 { try? await Task.sleep(for: .milliseconds(5)) }
                    async let closing: Void = pool.close()
                    while pool.counts(.commits).waiting > 0 { try? await Task.sleep(for: .milliseconds(5)) }
                    for _ in 0..<3 { end.signal() }
                    await closing
                    await pool.close()
                }
            }
            // A call that comes after the pool is closed fails as well.
            #expect(written.count == 33)
            await #expect(throws: StoreError.ending) { try await pool.write { _ in } }
            await #expect(throws: StoreError.ending) { try await pool.read { _ in } }
        }
    }

    /// Waits for a signal on a thread that no task needs.
    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                #expect(semaphore.wait(timeout: .now() + 30) == .success)
                continuation.resume()
            }
        }
    }
}
#endif
