import Crypto
import Foundation
import GRDB
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Databases that older versions wrote.
@Suite(.timeLimit(.minutes(5))) struct MigrationTests {
    let now = Vectors.issuedAt
    let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
    let done = UUID()
    let walking = UUID()
    let named = UUID()

    @Test func everythingOfTheFirstVersionsIsStillThere() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            try self.makeOldDatabase(path)
            let store = try SQLiteStore(path: path, masterKey: try .fixture(1))
            #expect(try await store.recover(now: self.now) == 0)
            // A clock that is wrong at the first start after it is noticed.
            let mark = try #require(try await store.clockMark())
            #expect(mark.steady >= self.now && mark.claim == nil)
            let app = try #require(try await store.apps().first)
            #expect(app.name == "My app")
            #expect(try await store.credential(app: app.id, environment: .production) == self.key)
            #expect(try await store.key(hash: [1, 2])?.scopes == [.send])
            try await self.checkDevices(store, app.id)
            try await self.checkLedger(store, app.id)
            try await self.checkWhatIsLeftToDo(store)
            let (faults, strays) = try await store.database.read { database in
                let faults = try String.fetchAll(database, sql: "PRAGMA integrity_check")
                return (faults, try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count)
            }
            #expect(faults == ["ok"])
            #expect(strays == 0)
        }
    }

    private func checkDevices(_ store: SQLiteStore, _ app: Int64) async throws {
        let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
        #expect(devices.map(\.id) == [3, 5])
        #expect(devices.map(\.environment) == [.sandbox, .production])
        #expect(devices.map(\.profile.user) == ["alice", nil])
        #expect(devices.map(\.profile.locale) == ["de-DE", nil])
        #expect(devices.map(\.profile.timeZone) == ["Europe/Berlin", nil])
        #expect(devices.map(\.profile.tags) == [["beta"], []])
        #expect(devices.map(\.isActive) == [true, false])
        #expect(devices.map(\.suspicions) == [0, 2])
        #expect(devices.map(\.registeredAt) == [self.now, self.now])
        #expect(try await store.register(9, app: app) > 5, "an id is never used again")
    }

    private func checkLedger(_ store: SQLiteStore, _ app: Int64) async throws {
        let (all, _) = try await store.notifications(app: app, state: nil, before: nil, limit: 10)
        #expect(all.map(\.id) == [self.named, self.walking, self.done], "newest first")
        let done = try #require(all.last)
        #expect(done.state == .done)
        #expect(done.audience == .devices(.tag("beta")))
        #expect(done.environment == .sandbox)
        #expect(done.content.payload == Data(Vectors.payload.utf8))
        #expect(done.progress.finishedAt == self.now)
        #expect(done.progress.accepted == 1)
        let deliveries = try await store.deliveries(of: self.done, state: nil, after: nil, limit: 10)
        #expect(deliveries.map(\.state) == [.accepted, .rejected])
        #expect(deliveries.map(\.reason) == [nil, "Unregistered"])
        #expect(deliveries.map(\.recipient) == [3, 5])
        #expect(try await store.delivery(of: DeliveryPrefix(of: self.done), recipient: 3)?.state == .accepted)
    }

    private func checkWhatIsLeftToDo(_ store: SQLiteStore) async throws {
        let broadcast = try await store.claimed()
        #expect(broadcast.notification.id == self.walking)
        #expect(broadcast.cursor == 3)
        #expect(try await store.walk(broadcast, page: 10).isEmpty, "5 is inactive")
        let urgent = try await store.claimed(lane: .urgent)
        #expect(urgent.notification.audience == .tokens([]), "claims do not carry a million tokens")
        #expect(try await store.walk(urgent, page: 10).map(\.token) == [.numbered(2)])
        let full = try #require(try await store.notification(self.named))
        #expect(full.audience == .tokens([.numbered(1), .numbered(2)]))
        #expect(full.progress.retrying == 1)
        let due = try await store.dueRetries(
            lane: .urgent,
            now: self.now,
            until: self.now.advanced(by: .seconds(1)),
            limit: 10,
            from: ClaimFilter()
        ) { _ in [] }
        guard case .here(let recipient)? = due.first?.recipients.first else {
            Issue.record("the retry is there")
            return
        }
        #expect(recipient.id == -1)
        #expect(recipient.attempts == 2)
    }

    /// Secrets were sealed without their place before migration 7.
    @Test func secretsOfOlderVersionsAreSealedForTheirPlaces() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let (webhook, schedules) = (UUID(), [UUID(), UUID()])
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "4 retries by app")
            let secrets = (try Self.sealedWithoutPlace(Vectors.privateKey), try Self.sealedWithoutPlace("whisper"))
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (1, 'a', 0);
                        INSERT INTO credential VALUES (1, 0, 'key', ?, ?, ?);
                        INSERT INTO webhook (id, app, url, sealed, events, isActive, createdAt, cursor, failures)
                            VALUES (?, 1, 'https://example.com', ?, 'token', 1, 0, 0, 0);
                        INSERT INTO schedule VALUES (?, 1, 'second', x'', x'', NULL, NULL, 0, 2);
                        INSERT INTO schedule VALUES (?, 1, 'first', x'', x'', NULL, NULL, 0, 1);
                        """,
                    arguments: [
                        Vectors.teamID, Vectors.keyID, secrets.0, webhook.uuidString, secrets.1,
                        schedules[1].uuidString, schedules[0].uuidString,
                    ]
                )
            }
            try queue.close()
            #expect(throws: StoreError.wrongMasterKey) { try SQLiteStore(path: path, masterKey: try .fixture(2)) }
            for _ in 1...2 {
                let store = try SQLiteStore(path: path, masterKey: try .fixture(1))
                #expect(try await store.credential(app: 1, environment: .production) == self.key)
                #expect(try await store.webhook(webhook)?.secret == "whisper")
                #expect(try await store.schedules(app: 1).map(\.id) == schedules)
                let sealed = try await store.database.read { try Data.fetchOne($0, sql: "SELECT sealed FROM webhook") }
                #expect(sealed != secrets.1)
                try store.close()
            }
        }
    }

    private static func sealedWithoutPlace(_ text: String) throws -> Data {
        let key = SymmetricKey(data: [UInt8](repeating: 1, count: MasterKey.length))
        return try #require(try AES.GCM.seal(Data(text.utf8), using: key).combined)
    }

    private func makeOldDatabase(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try SQLiteSchema.migrator.migrate(queue, upTo: "2 notifications")
        let sealed = try Self.sealedWithoutPlace(Vectors.privateKey)
        let now = self.now.milliseconds
        try queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO app VALUES (1, ?, 'My app', \(now));
                    INSERT INTO credential VALUES (1, 'production', ?, ?, ?);
                    INSERT INTO device VALUES
                        (3, 1, 'sandbox', ?, 'alice', 'de_DE', 'Europe/Berlin', 1, \(now), 0),
                        (5, 1, 'production', ?, NULL, NULL, NULL, 0, \(now), 2);
                    INSERT INTO deviceTag VALUES (1, 'beta', 3);
                    INSERT INTO apiKey VALUES ('\(UUID())', x'0102', 'ci', 'send', \(now));
                    """,
                arguments: [
                    Vectors.bundleID, Vectors.teamID, Vectors.keyID, sealed, Data(DeviceToken.numbered(1).bytes),
                    Data(DeviceToken.numbered(2).bytes),
                ]
            )
            try self.insert(self.done, "'tag', 'beta', 'sandbox'", "\(now), 'done', 1, 5, 1, 1", at: now, database)
            try self.insert(self.walking, "'all', NULL, NULL", "NULL, 'sending', 0, 3, 0, 0", at: now + 1, database)
            try self.insert(
                self.named,
                "'tokens', NULL, 'sandbox'",
                "NULL, 'sending', 0, 1, 0, 0",
                at: now + 2,
                database
            )
            for (recipient, state, reason) in [(3, "accepted", "NULL"), (5, "rejected", "'Unregistered'")] {
                try database.execute(
                    sql: """
                        INSERT INTO delivery VALUES
                            (?, \(recipient), \(recipient), x'01', 'sandbox', '\(state)', 'id', \(reason), 1, \(now))
                        """,
                    arguments: [self.done.uuidString]
                )
            }
            for number in 1...2 {
                try database.execute(
                    sql: "INSERT INTO target VALUES (?, \(number), ?, 'sandbox')",
                    arguments: [self.named.uuidString, Data(DeviceToken.numbered(number).bytes)]
                )
            }
            try database.execute(
                sql: "INSERT INTO retry VALUES (?, -1, NULL, ?, 'sandbox', NULL, 2, \(now))",
                arguments: [self.named.uuidString, Data(DeviceToken.numbered(1).bytes)]
            )
        }
        try queue.close()
    }

    private func insert(_ id: UUID, _ audience: String, _ state: String, at: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO notification (id, app, audience, audienceValue, environment, topic, pushType, priority,
                    payload, createdAt, finishedAt, state, isWalked, cursor, accepted, rejected)
                VALUES (?, 1, \(audience), ?, 'alert', 10, ?, \(at), \(state))
                """,
            arguments: [id.uuidString, Vectors.bundleID, Data(Vectors.payload.utf8)]
        )
    }
}
