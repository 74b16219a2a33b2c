import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 7, from a database that version 0.1.0 has written.
@Suite(.timeLimit(.patience)) struct UnknownMigrationTests {
    @Test func whatHadEndedKeepsItsStateAndItsCounters() async throws {
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
                            pushType, priority, payload, isTemplate, createdAt, startsAt, finishedAt, recipients,
                            accepted, failed)
                        VALUES (1, ?, 1, 7, 'done', 1, 'atMostOnce', '{"all":true}', 'com.example.Old', 'alert', 10,
                            x'7b7d', 0, 1, 1, 2, 2, 1, 1);
                        """,
                    arguments: [id.uuidString]
                )
                try database.execute(
                    sql: """
                        INSERT INTO delivery (notification, recipient, state, attempts, at)
                        VALUES (1, 1, 1, 1, 2), (1, 2, 3, 1, 2)
                        """
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let progress = try #require(try await store.notification(id)).progress
            #expect((progress.accepted, progress.failed, progress.unknown) == (1, 1, 0))
            #expect(try await store.checkIntegrity().isEmpty)
            try await store.close()
        }
    }
}
