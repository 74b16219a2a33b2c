import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The list of a notification's receipts while its rows change.
@Suite(.timeLimit(.patience)) struct ReceiptListTests {
    private let now = Vectors.issuedAt

    /// Runs a test with a notification that has receipts of all six events under each of two subjects.
    private func run(
        _ body: (SQLStore, NotificationRecord, _ number: Int64) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let notification = try await store.start(app: app)
            let number = try await store.claimed().notificationNumber
            try await store.database.write { database in
                for subject in [7, 8] {
                    for event in ReceiptEvent.allCases { try Self.add(number, subject, event.rawValue, in: database) }
                }
            }
            try await body(store, notification, number)
        }
    }

    private static func add(_ number: Int64, _ subject: Int, _ event: Int64, in database: any SQLConnection) throws {
        try database.run(
            sql:
                "INSERT INTO receipt (notification, subject, event, id, source, at, receivedAt) VALUES (?, ?, ?, 1, 0, 0, 0)",
            [number, subject, event]
        )
    }

    /// Rows that become those of a count leave the list behind the reader, which neither repeats nor misses others.
    @Test func rowsThatMoveAwayHideNoOthers() async throws {
        try await self.run { store, notification, number in
            let first = try await store.receipts(of: notification.id, after: nil, limit: 4)
            #expect(first.receipts.map(\.event.rawValue) == [1, 2, 3, 4])
            try await store.database.run(
                sql: "UPDATE receipt SET subject = -99 WHERE notification = ? AND subject = 7 AND event < 4",
                [number]
            )
            var (place, rest): (ReceiptPlace?, [ReceiptRecord]) = (first.next, [])
            while let after = place {
                let page = try await store.receipts(of: notification.id, after: after, limit: 4)
                rest += page.receipts
                place = page.next
            }
            #expect(rest.map(\.subject) == [7, 7, 8, 8, 8, 8, 8, 8])
            #expect(rest.map(\.event.rawValue) == [5, 6, 1, 2, 3, 4, 5, 6])
        }
    }

    /// Rows of a later version are left out, and are no end of the list.
    @Test func rowsOfUnknownEventsAreNoEnd() async throws {
        try await self.run { store, notification, number in
            try await store.database.write { database in
                for event: Int64 in 50..<60 { try Self.add(number, 7, event, in: database) }
            }
            var (place, all, pages): (ReceiptPlace?, [ReceiptRecord], Int) = (nil, [], 0)
            repeat {
                let page = try await store.receipts(of: notification.id, after: place, limit: 4)
                all += page.receipts
                (place, pages) = (page.next, pages + 1)
            } while place != nil && pages < 99
            #expect(all.map(\.subject) == Array(repeating: 7, count: 6) + Array(repeating: 8, count: 6))
        }
    }
}
