import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 34, from a database with times that have a fraction after the minutes.
@Suite(.timeLimit(.patience)) struct FractionsOfTimesMigrationTests {
    /// Returns an audience with three conditions on times and one on an attribute with the name of such a condition.
    private static func audience(_ first: String, _ second: String) -> String {
        """
        {"and":[{"lastSeen":{"atLeast":"2026-01-01T\(first)Z","below":"2026-02-01t\(second)+01:00"}},\
        {"not":{"lastSeen":{"above":"2026-01-01T09:30:01.5Z"}}},\
        {"attribute":"lastSeen","is":"2026-01-01T09:30.5Z"}]}
        """
    }

    private static let before = Self.audience("09:30.5", "09:30.25")
    private static let after = Self.audience("09:30:00.5", "09:30:00.25")

    private static func request(_ audience: String) -> Data {
        Data(#"{"to":\#(audience),"alert":"2026-01-01T09:30.5Z","data":{"lastSeen":{"a":"2026-01-01T09:30.5Z"}}}"#.utf8)
    }

    private static func migrated(_ path: String, _ schedules: [(id: UUID, request: Data)], item: UUID) async throws {
        let queue = try DatabaseQueue(path: path)
        try SQLiteSchema.migrator.migrate(queue, upTo: "33 user changes")
        let body = Data(Self.before.utf8)
        try await queue.write { database in
            try database.execute(
                sql: "INSERT INTO app (id, bundleID, createdAt) VALUES (1, ?, 1)",
                arguments: [Vectors.bundleID]
            )
            for schedule in schedules {
                try database.execute(
                    sql: """
                        INSERT INTO schedule (id, app, name, request, rule, isPaused, createdAt)
                        VALUES (?, 1, 'daily', ?, ?, 0, 5)
                        """,
                    arguments: [
                        schedule.id.uuidString, schedule.request, Data(#"{"cron":"0 9 * * *","timeZone":"UTC"}"#.utf8),
                    ]
                )
            }
            try database.execute(
                sql: """
                    INSERT INTO libraryItem (number, id, app, kind, name, body, version, createdAt, changedAt)
                    VALUES (1, ?, 1, 'audience', 'recent', ?, 1, 5, 5)
                    """,
                arguments: [item.uuidString, body]
            )
            try database.execute(
                sql: "INSERT INTO libraryVersion (item, version, name, body, at) VALUES (1, 1, 'recent', ?, 5)",
                arguments: [body]
            )
        }
        try queue.close()
    }

    /// Other texts stay as they are, and a text that is not JSON does not end the migration.
    @Test func timesInAudiencesGetTheirSeconds() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let (id, damaged, item) = (UUID(), UUID(), UUID())
            let schedules = [
                (id: id, request: Self.request(Self.before)), (id: damaged, request: Data("{T09:30.5Z".utf8)),
            ]
            try await Self.migrated(path, schedules, item: item)
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let stored = try #require(try await store.schedule(id))
            let request = try JSONValue(parsing: Self.request(Self.after))
            #expect(try JSONValue(parsing: stored.request) == request)
            let (bundleID, now) = (try #require(Topic(Vectors.bundleID)), Vectors.issuedAt)
            #expect(throws: RequestError.self) {
                try NotificationRequest(parsing: Self.request(Self.before), bundleID: bundleID, now: now)
            }
            let run = try NotificationRequest(parsing: stored.request, bundleID: bundleID, now: now)
            let wanted = try NotificationRequest(parsing: Self.request(Self.after), bundleID: bundleID, now: now)
            #expect(run.audience == wanted.audience)
            #expect(try await store.schedule(damaged)?.request == Data("{T09:30.5Z".utf8))
            let audience = try JSONValue(parsing: Data(Self.after.utf8))
            let saved = try #require(try await store.libraryItem(.id(item), of: .audience, app: 1))
            #expect(JSONValue.object(saved.body) == audience)
            let versions = try await store.libraryVersions(of: item, before: .max, limit: 9, bytes: .max).entries
            #expect(versions.map { JSONValue.object($0.body) } == [audience])
            try await store.close()
        }
    }
}
