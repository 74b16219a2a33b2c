#if PostgreSQL
import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushStore

/// What a store in PostgreSQL makes of the engine's errors and limits.
@Suite(PostgreSQLServer.isInstalled) struct PostgreSQLDatabaseTests {
    /// Runs a test with a store in a new schema.
    private func withStore(
        statementTimeout: Duration = .seconds(30),
        lockTimeout: Duration = .seconds(2),
        through proxy: PostgreSQLProxy? = nil,
        in settings: PostgreSQLSettings? = nil,
        _ body: (SQLStore, PostgreSQLDatabase) async throws -> Void
    ) async throws {
        var settings = try settings ?? PostgreSQLServer.shared.empty(folder: proxy?.folder)
        (settings.statementTimeout, settings.lockTimeout) = (statementTimeout, lockTimeout)
        settings.answerGrace = .milliseconds(500)
        let store = try await SQLStore(settings, masterKey: try .fixture(7))
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(store, try #require(store.database as? PostgreSQLDatabase)))
        } catch {
            result = .failure(error)
        }
        try await store.close()
        try result.get()
    }

    @Test(arguments: [
        (PostgreSQLError.Kind.unavailable, StoreError.unavailable(why: "PostgreSQL: why")),
        (.serialization, .unavailable(why: "PostgreSQL: why")), (.readOnly, .unavailable(why: "PostgreSQL: why")),
        (.timeout, .unavailable(why: "PostgreSQL: why")), (.cannotWrite, .cannotWrite(why: "PostgreSQL: why")),
    ])
    func anErrorThatMayPassIsTemporary(kind: PostgreSQLError.Kind, expected: StoreError) {
        let error = PostgreSQLDatabase.named(PostgreSQLError(kind: kind, message: "why"))
        #expect(error as? StoreError == expected)
        #expect(expected.isTemporary)
    }

    @Test func anErrorOfAStatementStaysAsItIs() async throws {
        try await self.withStore { store, database throws in
            let error = await #expect(throws: PostgreSQLError.self) { try await database.run(sql: "SELECT nothing") }
            #expect(error?.kind == .other)
            await #expect(throws: ForeignKeyViolation.self) {
                try await database.run(sql: "INSERT INTO appStop (app, since) VALUES (9, 0)")
            }
        }
    }

    @Test func aQueryThatTakesTooLongIsToldSo() async throws {
        let caller = QueryCaller(budget: .milliseconds(50))
        try await self.withStore { store, database throws in
            await #expect(throws: StoreError.queryTooExpensive(budget: .milliseconds(50))) {
                try await QueryCaller.$current.withValue(caller) {
                    try await database.query { try $0.run(sql: "SELECT pg_sleep(20)") }
                }
            }
            // The time budget is that of all steps together.
            let steps = Mutex(0)
            await #expect(throws: StoreError.queryTooExpensive(budget: .milliseconds(50))) {
                try await QueryCaller.$current.withValue(caller) {
                    try await database.query(from: ()) { database, _ -> QueryStep<Void, Int> in
                        steps.withLock { $0 += 1 }
                        try database.run(sql: "SELECT pg_sleep(0.02)")
                        return .next(())
                    }
                }
            }
            #expect((2...3).contains(steps.withLock { $0 }))
            #expect(try await database.query { try $0.count(sql: "SELECT 1") } == 1)
        }
    }

    @Test func aServiceThatWaitsTooLongMayTryAgain() async throws {
        try await self.withStore(statementTimeout: .milliseconds(500)) { store, database throws in
            let error = await #expect(throws: StoreError.self) {
                try await database.read { try $0.run(sql: "SELECT pg_sleep(20)") }
            }
            guard case .unavailable = error else { return #expect(error == nil) }
        }
    }

    /// A call that waits until the test lets it go on.
    private final class Stay: Sendable {
        private let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

        func wait() {
            self.began.signal()
            #expect(self.end.wait(timeout: .now() + 30) == .success)
        }

        func untilBegun() async throws {
            try await runBlocking { [began] in #expect(began.wait(timeout: .now() + 30) == .success) }
        }

        func leave() { self.end.signal() }
    }

    @Test func longQueriesDelayNeitherLookupsNorTheDispatcher() async throws {
        try await self.withStore { store, database throws in
            let stay = Stay()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        try await database.query { database in
                            stay.wait()
                            return try database.count(sql: "SELECT 1")
                        }
                    }
                }
                for _ in 0..<2 { try await stay.untilBegun() }
                try await eventually { store.queryCounts == (2, 3) }
                for _ in 0..<10 {
                    #expect(try await database.lookup { try $0.count(sql: "SELECT 2") } == 2)
                    #expect(try await database.read { try $0.count(sql: "SELECT 3") } == 3)
                }
                #expect(store.queryCounts == (2, 3))
                for _ in 0..<5 { stay.leave() }
                for try await value in group { #expect(value == 1) }
            }
            try await eventually { store.queryCounts == (0, 0) }
        }
    }

    /// The running query ends before its next statement, and the waiting ones at once.
    @Test func theEndOfTheStoreInterruptsQueries() async throws {
        try await self.withStore { store, database throws in
            let stay = Stay()
            let running = Task {
                try await database.query { database in
                    let number = try database.count(sql: "SELECT 1")
                    stay.wait()
                    return try database.count(sql: "SELECT 1") + number
                }
            }
            let steps = Task {
                try await database.query(from: 0) { database, number -> QueryStep<Int, Int> in
                    if number == 0 { stay.wait() }
                    return .next(number + 1)
                }
            }
            for _ in 0..<2 { try await stay.untilBegun() }
            let waiting = Task { try await database.query { try $0.count(sql: "SELECT 1") } }
            try await eventually { store.queryCounts == (2, 1) }
            store.endQueries()
            await #expect(throws: StoreError.ending) { try await waiting.value }
            for _ in 0..<2 { stay.leave() }
            await #expect(throws: StoreError.ending) { try await running.value }
            await #expect(throws: StoreError.ending) { try await steps.value }
            #expect(try await database.write { try $0.count(sql: "SELECT 1") } == 1)
        }
    }

    @Test func noQueryBeginsWhileTheStoreEnds() async throws {
        try await self.withStore { store, database throws in
            store.endQueries()
            await #expect(throws: StoreError.ending) { try await database.query { try $0.count(sql: "SELECT 1") } }
            #expect(try await database.lookup { try $0.count(sql: "SELECT 1") } == 1)
            #expect(store.queryCounts == (0, 0))
        }
    }

    @Test func theCacheOfAppsForgetsWhatHasChanged() async throws {
        try await self.withStore { store, database throws in
            let reads = Mutex(0)
            func read() async throws -> Int {
                try await database.apps.value(.app(id: 1)) { reads.withLock { $0 += 1 } }
                return reads.withLock { $0 }
            }
            #expect(try await read() == 1)
            #expect(try await read() == 1)
            try await database.run(sql: "UPDATE lastApp SET id = 1")
            #expect(try await read() == 1)
            try await database.run(sql: "INSERT INTO app (bundleID, createdAt) VALUES ('com.example.App', 0)")
            #expect(try await read() == 2)
        }
    }

    /// A commit that the server completes after the connection was lost, when its cause has been read and cached again.
    @Test func whatAnUnknownCommitHasChangedIsForgottenTwice() async throws {
        let proxy = try PostgreSQLProxy(to: PostgreSQLServer.shared.folder)
        defer { proxy.stop() }
        try await self.withStore(statementTimeout: .seconds(5), through: proxy) { store, database throws in
            func rate() async throws -> Int {
                try await database.apps.value(.app(id: 1)) {
                    try await database.lookup { try $0.count(sql: "SELECT rate FROM app") }
                }
            }
            func hasKey() async throws -> Bool { try await store.key(hash: [1]) != nil }
            try await database.run(sql: "INSERT INTO app (id, bundleID, createdAt, rate) VALUES (1, 'a.b', 0, 1)")
            try await store.addKey(APIKeyRecord(id: UUID(), name: "a", scopes: [], createdAt: .atOnce), hash: [1])
            let lock = Int64.random(in: 0 ... .max)
            let body = "BEGIN PERFORM pg_advisory_xact_lock(\(lock)); RETURN NULL; END"
            try await database.run(sql: "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ \(body) $$")
            try await database.run(
                sql: """
                    CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON app DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION slow()
                    """
            )
            let other = try PostgreSQLServer.shared.connection()
            try other.command("SELECT pg_advisory_lock(\(lock))")
            let backend = Mutex<Int64>(0)
            let change = Task {
                try await database.write { database in
                    let limits = ["statement_timeout", "lock_timeout"]
                    for limit in limits { try database.run(sql: "SET LOCAL \(limit) = 0") }
                    try database.run(sql: "UPDATE app SET rate = 7")
                    try database.run(sql: "DELETE FROM apiKey")
                    let number = try database.backend
                    backend.withLock { $0 = number }
                }
            }
            try await eventually { backend.withLock { $0 } != 0 }
            let waits = "SELECT 1 FROM pg_stat_activity WHERE pid = CAST(? AS int) AND query = 'COMMIT'"
            try other.wait(forRow: waits, [backend.withLock { $0 }])
            proxy.stop()
            let error = await #expect(throws: StoreError.self) { try await change.value }
            #expect(error?.isTemporary == true)
            try proxy.start()
            #expect(try await rate() == 1)
            #expect(try await hasKey())
            try other.command("SELECT pg_advisory_unlock(\(lock))")
            try await eventually { try await rate() == 7 }
            #expect(try await !hasKey())
        }
    }

    /// Only what a key is asked for clears the cache, and not its use.
    @Test func aChangedKeyIsReadAgain() async throws {
        try await self.withStore { store, database throws in
            let key = APIKeyRecord(id: UUID(), name: "a", scopes: [], createdAt: .atOnce)
            try await store.addKey(key, hash: [1])
            #expect(try await store.key(hash: [1])?.name == "a")
            try await store.setLastUses([key.id: Timestamp(seconds: 9)])
            #expect(try await store.key(hash: [1])?.lastUsedAt == nil)
            _ = try await store.changeKey(key.id) { $0.name = "b" }
            #expect(try await store.key(hash: [1])?.name == "b")
            _ = try await store.deleteKey(key.id)
            #expect(try await store.key(hash: [1]) == nil)
        }
    }

    /// The first commits conflict with another transaction, so that their closures run twice.
    @Test func aRepeatedPageIsCountedOnce() async throws {
        try await self.withStore { store, database throws in
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            for table in ["delivery", "statistic"] {
                let body = """
                    BEGIN IF nextval('\(table)Attempt') = 1 THEN RAISE EXCEPTION USING errcode = '40001'; END IF;
                    RETURN NULL; END
                    """
                try await database.run(sql: "CREATE SEQUENCE \(table)Attempt")
                let function = "CREATE FUNCTION \(table)Conflict() RETURNS trigger LANGUAGE plpgsql AS $$ \(body) $$"
                try await database.run(sql: function)
                try await database.run(
                    sql: """
                        CREATE CONSTRAINT TRIGGER conflict AFTER INSERT ON \(table) DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW EXECUTE FUNCTION \(table)Conflict()
                        """
                )
            }
            _ = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 100)
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { DeliveryResult.fixture($0, .accepted, reason: nil) }
                page.step = .last(claim)
            }
            let minute = StatisticStep.minute.start(of: Vectors.issuedAt)
            let end = minute.advanced(by: .seconds(60))
            let points = try await store.statistics(apps: [app], from: minute, to: end, step: .minute)
            #expect(points.map(\.accepted) == [1])
            for table in ["delivery", "statistic"] {
                let sql = "SELECT last_value FROM \(table)Attempt"
                #expect(try await database.read { try $0.count(sql: sql) } > 1)
            }
        }
    }

    /// `VACUUM` leaves rows that a snapshot still sees.
    @Test func deletedRowsAreNotSaidToBeRemovedTooEarly() async throws {
        let server = try PostgreSQLServer.shared
        let name = server.newName()
        try await server.run("CREATE DATABASE \(name)")
        let settings = try PostgreSQLSettings(server.address(database: name))
        try await self.withStore(lockTimeout: .milliseconds(200), in: settings) { store, database throws in
            let other = try PostgreSQLConnection(settings)
            try other.command("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
            try await database.run(sql: "INSERT INTO node (startedAt) VALUES (1)")
            try await database.run(sql: "DELETE FROM node")
            #expect(try await database.overwriteDeleted() == false)
            try other.command("COMMIT")
            try await eventually { try await database.overwriteDeleted() }
        }
        try await server.run("DROP DATABASE \(name) WITH (FORCE)")
    }

    @Test func deletedRowsAreRemoved() async throws {
        try await self.withStore { store, database throws in
            try await eventually { try await database.overwriteDeleted() }
            #expect(try await store.migrations() == PostgreSQLSchema.migrations.map(\.name))
            #expect(try await store.checkIntegrity(isAtRest: true) == [])
        }
    }

    @Test func anotherMasterKeyIsRefused() async throws {
        let settings = try PostgreSQLServer.shared.empty()
        let store = try await SQLStore(settings, masterKey: try .fixture(7))
        try await store.database.run(sql: "INSERT INTO app (id, bundleID, createdAt) VALUES (1, 'com.example.App', 0)")
        let credential = "INSERT INTO credential (app, environment, kind, sealed) VALUES (1, 0, 'key', x'00')"
        try await store.database.run(sql: credential)
        try await store.close()
        try await SQLStore(settings, masterKey: try .fixture(7)).close()
        await #expect(throws: StoreError.wrongMasterKey) {
            _ = try await SQLStore(settings, masterKey: try .fixture(8))
        }
    }

    @Test func aServerThatIsNotThereIsUnavailable() async throws {
        let address = "host=/tmp/no-such-folder dbname=postgres"
        let error = await #expect(throws: StoreError.self) {
            _ = try await SQLStore(postgreSQL: address, masterKey: try .fixture(7))
        }
        guard case .unavailable = error else { return #expect(error == nil) }
    }
}
#endif
