import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// A database of version 0.1.0, opened by one that knows kinds of tokens.
@Suite(.timeLimit(.patience)) struct TokenKindMigrationTests {
    /// Makes a database with the first migration only, and rows of an app.
    private func withDatabase(_ sql: String, _ body: (SQLStore) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "1 initial schema")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (1, '\(Vectors.bundleID)', 0);
                        \(sql)
                        """
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            try await body(store)
            let faults = try await store.database.read { try $0.values(sql: "PRAGMA integrity_check") as [String] }
            #expect(faults == ["ok"])
            try await store.close()
        }
    }

    private static func device(_ id: Int, installation: String = "NULL") -> String {
        """
        INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt, suspicions, user, installation)
            VALUES (\(id), 1, 1, x'\(DeviceToken.numbered(id).hex)', 1, 5, 6, 0, 'alice', \(installation));
        """
    }

    private static func notification(_ number: Int, _ pushType: String, payload: String = "{}") -> String {
        """
        INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic, pushType, priority,
            payload, isTemplate, createdAt, startsAt, finishedAt, accepted)
            VALUES (\(number), '\(UUID().uuidString)', \(number), 1, 'done', 1, 'atLeastOnce', '{"all":true}',
                '\(Vectors.bundleID)', '\(pushType)', 10, CAST('\(payload)' AS BLOB), 0, 1, 1, 2, 1);
        """
    }

    private static func delivery(_ notification: Int, _ recipient: Int, device: String = "NULL", state: Int = 1)
        -> String
    {
        """
        INSERT INTO delivery (notification, recipient, state, attempts, at, device)
            VALUES (\(notification), \(recipient), \(state), 1, 2, \(device));
        """
    }

    @Test func devicesAreForAlertsAndKeepTheirPlace() async throws {
        try await self.withDatabase(Self.device(1, installation: "'phone'") + Self.device(2)) { store in
            let devices = try await store.devices(app: 1, audience: .everyone, after: 0, limit: 10)
            #expect(devices.map(\.kind) == [.alert, .alert])
            #expect(devices.map(\.profile.user) == ["alice", "alice"])
            #expect(devices.map(\.activity) == [nil, nil])
            // The installation's token is replaced as before, and it may have one of another kind now.
            #expect(try await store.register(3, app: 1) { $0.installation = "phone" } == 1)
            let voip = try await store.register(4, app: 1) { registration in
                (registration.installation, registration.kind) = ("phone", .voip)
            }
            #expect(voip > 2)
            #expect(try await store.count(app: 1, audience: .user("alice"), environment: nil, kind: .voip) == 1)
        }
    }

    @Test func anAcceptedPushProvesTheKindOfItsToken() async throws {
        let start = #"{"aps":{"event":"start"}}"#
        let sql =
            (1...7).map { Self.device($0) }.joined() + Self.notification(1, "voip") + Self.delivery(1, 1)
            // Rejected, and an alert.
            + Self.delivery(1, 2, state: 2) + Self.notification(2, "alert") + Self.delivery(2, 3)
            // By a named token, and a start and an update of a Live Activity.
            + Self.notification(3, "pushtotalk") + Self.delivery(3, -1, device: "4")
            + Self.notification(4, "liveactivity", payload: start) + Self.delivery(4, 5)
            + Self.notification(5, "liveactivity", payload: #"{"aps":{"event":"update"}}"#) + Self.delivery(5, 6)
            // One that has had several tokens.
            + Self.notification(6, "voip") + Self.delivery(6, 7)
            + "INSERT INTO tokenEvent (app, device, token, environment, action, at) VALUES (1, 7, x'aa', 1, 'replaced', 1);"
        try await self.withDatabase(sql) { store in
            let devices = try await store.devices(app: 1, audience: .everyone, after: 0, limit: 10)
            let kinds: [DeviceTokenKind] = [
                .voip, .alert, .alert, .pushToTalk, .liveActivityStart, .liveActivityUpdate, .alert,
            ]
            #expect(devices.map(\.kind) == kinds)
        }
    }

    /// A notification that was accepted before has no kind, and goes to the devices that it was accepted for.
    @Test func notificationsInProgressGoOn() async throws {
        let sql =
            Self.device(1) + Self.notification(1, "voip") + Self.notification(2, "background")
            + "UPDATE notification SET state = 'accepted', finishedAt = NULL;"
        try await self.withDatabase(sql) { store in
            let all = try await store.notifications(app: 1, state: nil, before: nil, limit: 10).notifications
            #expect(all.map(\.content.pushType) == [.background, .voip])
            #expect(all.map(\.content.tokenKind) == [.alert, nil])
        }
    }

    @Test func aMillionDevicesTakeSeconds() async throws {
        // A tenth of it here; the time is not part of the test.
        let sql = """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt, suspicions, installation)
            SELECT i, 1, 1, CAST(printf('token %d', i) AS BLOB), 1, 5, 6, 0, printf('i%d', i) FROM n;
            """
        try await self.withDatabase(sql) { store in
            let count = try await store.count(app: 1, audience: .everyone, environment: nil, kind: .alert)
            #expect(count == 100_000)
        }
    }
}
