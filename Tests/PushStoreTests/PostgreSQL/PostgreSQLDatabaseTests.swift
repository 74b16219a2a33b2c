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
        _ body: (SQLStore, PostgreSQLDatabase) async throws -> Void
    ) async throws {
        var settings = try PostgreSQLServer.shared.empty()
        settings.statementTimeout = statementTimeout
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

    @Test func deletedRowsAreRemoved() async throws {
        try await self.withStore { store, database throws in
            #expect(try await database.overwriteDeleted())
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
