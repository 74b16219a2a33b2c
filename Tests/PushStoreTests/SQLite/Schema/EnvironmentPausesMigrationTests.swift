import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 3, from a database that version 0.1.0 has written.
@Suite(.timeLimit(.patience)) struct EnvironmentPausesMigrationTests {
    @Test func credentialsAndRetriesOfTheFirstVersionStay() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "1 initial schema")
            let id = UUID()
            try await queue.write { database in
                try database.execute(
                    sql: "INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1)"
                )
                try database.execute(
                    sql: """
                        INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic,
                            pushType, priority, payload, isTemplate, createdAt, startsAt)
                        VALUES (1, ?, 1, 7, 'sending', 1, 'atLeastOnce', '{"all":true}', 'com.example.Old', 'alert', 10,
                            x'7b7d', 0, 1, 1);
                        """,
                    arguments: [id.uuidString]
                )
                try database.execute(
                    sql: """
                        INSERT INTO retry (notification, recipient, lane, attempts, dueAt, app) VALUES (1, 2, 1, 1, 5, 7);
                        INSERT INTO shard (notification, number, lane, zoneKind, cursor, upTo, notBefore)
                        VALUES (1, 0, 1, 0, 2, 9, 1);
                        """
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let target = AppEnvironment(app: 7, environment: .production)
            #expect(try await store.environmentPauses() == [])
            #expect(try await store.holdingEnvironments() == [])
            #expect(try await store.credentialEpoch(target) == 0)
            #expect(try await store.notification(id)?.progress.retrying == 1)
            let claims = try await store.claim(
                lane: .bulk,
                at: .init(Timestamp(milliseconds: 10)),
                until: Timestamp(milliseconds: 20),
                limit: 1,
                from: ClaimFilter()
            )
            #expect(claims.map(\.cursor) == [2])
            try await store.close()
        }
    }
}
