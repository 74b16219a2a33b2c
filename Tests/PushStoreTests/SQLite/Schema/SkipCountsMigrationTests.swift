import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 11, from a database without counts of skipped recipients.
@Suite(.timeLimit(.patience)) struct SkipCountsMigrationTests {
    @Test func whatWasSkippedBeforeStaysInTheCounters() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "10 timeline")
            let id = UUID()
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1);
                        INSERT INTO delivery (notification, recipient, state, attempts, at) VALUES (1, 3, 4, 0, 1)
                        """
                )
                try database.execute(
                    sql: """
                        INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic,
                            pushType, priority, payload, isTemplate, createdAt, startsAt, finishedAt, skipped,
                            recipients, openedAfter)
                        VALUES (1, ?, 1, 7, 'done', 1, 'atLeastOnce', '{"tokens":true}', 'com.example.Old', 'alert', 10,
                            x'7b7d', 0, 1, 1, 2, 1, 1, 0)
                        """,
                    arguments: [id.uuidString]
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await store.notification(id)?.progress.skipped == 1)
            #expect(try await store.notification(id)?.audience == .tokens([]))
            #expect(try await store.skipCounts(of: id).isEmpty)
            // The counts go with their notification.
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO reason (id, text) VALUES (5, 'no encryption key');
                        INSERT INTO skipCount (notification, reason, count) VALUES (1, 5, 2)
                        """
                )
            }
            #expect(try await store.skipCounts(of: id) == [SkipCount(reason: "no encryption key", count: 2)])
            while try await store.forget(before: Timestamp(milliseconds: 1000), limit: 10) > 0 {}
            #expect(try await store.notification(id) == nil)
            let left = try await store.database.read { try $0.integer(sql: "SELECT count(*) FROM skipCount") }
            #expect(left == 0)
        }
    }
}
