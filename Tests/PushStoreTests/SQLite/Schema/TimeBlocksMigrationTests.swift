import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 31, from a database whose numbers do not rise with the time.
@Suite(.timeLimit(.patience)) struct TimeBlocksMigrationTests {
    @Test func whatIsThereIsFoundByItsTime() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "28 push resource origins")
            try await queue.write { database in
                try database.execute(sql: "INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1)")
                for (number, seconds) in [(1, 100), (5000, 9000), (5001, 101)] {
                    try database.execute(
                        sql: """
                            INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic,
                                pushType, priority, payload, isTemplate, createdAt, startsAt)
                            VALUES (?1, ?2, ?1, 7, 'paused', 1, 'atLeastOnce', '{"tokens":true}', 'com.example.Old',
                                'alert', 10, x'7b7d', 0, ?3, ?3)
                            """,
                        arguments: [number, UUID().uuidString, seconds * 1000]
                    )
                    try database.execute(
                        sql: "INSERT INTO audit (id, at, keyName, action, status) VALUES (?, ?, 'Ann', 'POST', 200)",
                        arguments: [number, seconds * 1000]
                    )
                }
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let (from, to) = (Timestamp(seconds: 100), Timestamp(seconds: 102))
            var filter = NotificationFilter(apps: [7])
            (filter.from, filter.to) = (from, to)
            let found = try await store.notifications(filter, sort: .newest, after: nil, limit: 9)
            #expect(found.entries.map(\.createdAt) == [Timestamp(seconds: 101), from])
            var entries = AuditFilter()
            (entries.from, entries.to) = (from, to)
            #expect(try await store.audit(entries, before: nil, limit: 9).entries.map(\.id) == [5001, 1])
            try await store.close()
        }
    }
}
