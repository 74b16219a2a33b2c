import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 8, from a database without receipts.
@Suite(.timeLimit(.patience)) struct ReceiptsMigrationTests {
    @Test func whatWasSentBeforeHasNoReceipts() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "7 unknown")
            let id = UUID()
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1);
                        INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt, suspicions,
                            installation)
                        VALUES (3, 7, 0, x'aabb', 1, 1, 1, 0, 'installation-1');
                        INSERT INTO delivery (notification, recipient, state, attempts, at) VALUES (1, 3, 1, 1, 1)
                        """
                )
                try database.execute(
                    sql: """
                        INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic,
                            pushType, priority, payload, isTemplate, createdAt, startsAt, finishedAt, accepted,
                            recipients, openedAfter)
                        VALUES (1, ?, 1, 7, 'done', 1, 'atLeastOnce', '{"all":true}', 'com.example.Old', 'alert', 10,
                            x'7b7d', 0, 1, 1, 2, 1, 1, 0)
                        """,
                    arguments: [id.uuidString]
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await store.app(id: 7)?.receipts == ReceiptLevel.none)
            #expect(try await store.notification(id)?.content.receipts == ReceiptLevel.none)
            #expect(try await store.notification(id)?.progress.accepted == 1)
            let now = Timestamp(milliseconds: 5)
            let entry = ReceiptBatch.Entry(IncomingReceipt(id: UUID(), event: .opened, at: now), of: .notification(id))
            let app = try #require(Topic("com.example.Old"))
            let batch = ReceiptBatch(from: .installation("installation-1", of: app), privacy: .device, [entry])
            let results = try await store.addReceipts([batch], now: now) { _ in Data() }.results
            #expect(results == [[.refused(.receiptsOff)]])
            #expect(try await store.checkIntegrity() == [])
            try await store.close()
        }
    }
}
