import Foundation
import GRDB
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// The lists of apps that were removed (APNs reference 6).
@Suite struct FeedbackListTests {
    @Test func aTokenIsListedOnceWithItsLatestTime() async throws {
        try await self.withStore { store, database in
            for time in [5, 9, 7] as [Int64] { try await Self.add([try Self.entry(1, at: time)], store, database) }
            #expect(try await Self.page(store) == [try Self.entry(1, at: 9)])
        }
    }

    @Test func pagesFollowEachOtherWithoutGapOrRepetition() async throws {
        try await self.withStore { store, database in
            let entries = try (0..<100).map { try Self.entry($0, at: 1) }
            try await Self.add(entries.shuffled(), store, database)
            var (read, page) = ([FeedbackEntry](), [FeedbackEntry]())
            repeat {
                page = try await Self.page(store, after: read.last?.token, limit: 7)
                read += page
            } while !page.isEmpty
            #expect(read == entries)
        }
    }

    @Test func onlyWhatWasReadIsCleared() async throws {
        try await self.withStore { store, database in
            try await Self.add([try Self.entry(1, at: 5), try Self.entry(2, at: 5)], store, database)
            let read = try await Self.page(store)
            try await Self.add([try Self.entry(2, at: 6), try Self.entry(3, at: 6)], store, database)
            try await store.clear(read)
            #expect(try await Self.page(store) == [try Self.entry(2, at: 6), try Self.entry(3, at: 6)])
        }
    }

    @Test func topicsAndEnvironmentsAreSeparate() async throws {
        try await self.withStore { store, database in
            try await Self.add([try Self.entry(1, at: 5)], store, database)
            let production = FeedbackList(database: database, environment: .production)
            #expect(try await Self.page(production).isEmpty)
            #expect(try await Self.page(store, topic: "com.example.Other").isEmpty)
            try await production.clear(try await Self.page(store))
            #expect(try await Self.page(store).count == 1)
        }
    }

    @Test func whatIsNewerThanAskedForStaysHidden() async throws {
        try await self.withStore { store, database in
            try await Self.add([try Self.entry(1, at: 5), try Self.entry(2, at: 6)], store, database)
            let page = try await Self.page(store, until: Timestamp(seconds: 5))
            #expect(page == [try Self.entry(1, at: 5)])
        }
    }

    @Test func aListThatIsNeverReadIsBounded() async throws {
        try await self.withStore(limit: 3) { store, database in
            try await Self.add(try (0..<5).map { try Self.entry($0, at: 1) }, store, database)
            #expect(store.dropped == 2)
            #expect(try await Self.page(store).count == 3)
            try await Self.add([try Self.entry(0, at: 2)], store, database)
            #expect(store.dropped == 2, "it is listed already")
            // A new start counts the entries on disk.
            let restarted = FeedbackList(database: database, environment: .sandbox, limit: 3)
            try await Self.add([try Self.entry(5, at: 1)], restarted, database)
            #expect(restarted.dropped == 1)
            try await restarted.clear(try await Self.page(restarted))
            try await Self.add(try (5..<8).map { try Self.entry($0, at: 1) }, restarted, database)
            #expect(try await Self.page(restarted).count == 3)
        }
    }

    @Test func rowsThatHoldSomethingElseAreLeftOut() async throws {
        try await self.withStore { store, database in
            try await database.write { tables in
                try tables.database.execute(
                    sql: "INSERT INTO feedback (environment, topic, token, time) VALUES ('sandbox', ?, ?, 1)",
                    arguments: [Vectors.bundleID, Data(count: 1000)]
                )
            }
            #expect(try await Self.page(store).isEmpty)
        }
    }

    private func withStore(
        limit: Int = 1000,
        _ body: (FeedbackList, GatewayDatabase) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let database = try GatewayDatabase(path: "\(directory)/gateway.sqlite")
            try await body(FeedbackList(database: database, environment: .sandbox, limit: limit), database)
            try await database.close()
        }
    }

    private static func add(
        _ entries: [FeedbackEntry],
        _ store: FeedbackList,
        _ database: GatewayDatabase
    ) async throws {
        try await database.write { tables in for entry in entries { try store.add(entry, in: tables) } }
    }

    private static func page(
        _ store: FeedbackList,
        topic: String = Vectors.bundleID,
        after token: DeviceToken? = nil,
        until latest: Timestamp = Timestamp(seconds: 1000),
        limit: Int = 1000
    ) async throws -> [FeedbackEntry] {
        try await store.page(try #require(Topic(topic)), after: token, until: latest, limit: limit)
    }

    static func entry(_ number: Int, at seconds: Int64) throws -> FeedbackEntry {
        let token = [UInt8](repeating: 0, count: 31) + [UInt8(truncatingIfNeeded: number)]
        return FeedbackEntry(
            topic: try #require(Topic(Vectors.bundleID)),
            token: try #require(DeviceToken(bytes: token)),
            time: Timestamp(seconds: seconds)
        )
    }
}
