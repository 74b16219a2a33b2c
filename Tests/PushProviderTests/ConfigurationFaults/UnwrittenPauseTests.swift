import PushSender
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// A store that cannot write or read the pauses of environments for a while.
@Suite(.timeLimit(.patience)) struct UnwrittenPauseTests {
    private static let untrusted = Outcome.Failure(
        "TLS: not trusted",
        fault: .init(.untrustedServer, host: "127.0.0.1", port: 9)
    )

    @Test(arguments: StoreBackend.available)
    func aPauseThatIsNotWrittenIsProvenAgainAndOneThatIsStays(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let store = try #require(fixture.store as? SQLStore)
            let log = RecordedLog()
            let faults = ConfigurationFaultTracker(
                store: store,
                directory: fixture.directory,
                source: fixture.sender,
                wakes: fixture.wakes,
                time: fixture.time,
                logger: log.logger
            )
            try await faults.load()
            // Reports failed connections until a condition holds.
            func failConnections(until isTrue: () async throws -> Bool) async throws {
                while try await !isTrue() {
                    fixture.sender.connection(Self.untrusted, app: fixture.app, in: .sandbox)
                    // A read behind it, so that reports do not pile up.
                    _ = try await store.apps()
                }
            }
            func errors() -> Int { log.lines.filter { $0.contains("a pause could not be written") }.count }

            // A view of distinct rows can be read, and not written.
            try await store.database.write { database in
                try database.run(sql: "ALTER TABLE environmentState RENAME TO away")
                try database.run(sql: "CREATE VIEW environmentState AS SELECT DISTINCT * FROM away")
            }
            try await failConnections { errors() > 0 }
            #expect(try await store.environmentPauses().isEmpty)
            try await store.database.write { database in
                try database.run(sql: "DROP VIEW environmentState")
                try database.run(sql: "ALTER TABLE away RENAME TO environmentState")
            }
            try await failConnections { try await !store.environmentPauses().isEmpty }

            // Another failure finds the store unreadable, which is no reason to end a pause that is written.
            let before = errors()
            try await store.database.run(sql: "ALTER TABLE environmentState RENAME TO away")
            try await failConnections { errors() > before }
            #expect(faults.pauses(of: fixture.app)[.sandbox] != nil)
            try await store.database.run(sql: "ALTER TABLE away RENAME TO environmentState")
        }
    }
}
