import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushStore

/// The tables of a new database, and databases of other schemas.
@Suite(.timeLimit(.patience)) struct SQLiteSchemaTests {
    @Test func aNewDatabaseHasEveryMigrationAndSoundTables() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            for _ in 1...2 {
                let store = try SQLStore(path: path, masterKey: try .fixture(1))
                let (migrations, faults, strays) = try await store.database.read { database in
                    (
                        try SQLiteSchema.migrations(in: database),
                        try database.values(sql: "PRAGMA integrity_check") as [String],
                        try database.rows(sql: "PRAGMA foreign_key_check").count
                    )
                }
                #expect(migrations == SQLiteSchema.migrator.migrations, "a restart runs nothing again")
                #expect(faults == ["ok"])
                #expect(strays == 0)
                try await store.close()
            }
        }
    }

    /// What databases have run is never put in another place.
    @Test func theMigrationsHaveTheirNumbers() {
        let numbers = SQLiteSchema.migrator.migrations.map { $0.prefix(while: \.isNumber) }
        #expect(numbers.count >= 33 && numbers.map(String.init) == (1...numbers.count).map(String.init))
    }

    /// A table that is not strict stores texts where numbers belong; a missing index makes a page a scan.
    @Test func everyTableIsStrictAndEveryIndexIsThere() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let (loose, indexes) = try await store.database.read { database in
                (
                    try database.values(
                        sql: """
                            SELECT name FROM pragma_table_list
                            WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'
                            """
                    ) as [String],
                    try database.value(
                        sql: "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql != ''"
                    ) as Int?
                )
            }
            #expect(loose == ["grdb_migrations"])
            #expect(indexes == 98)
        }
    }

    /// A credential of version 0.1.0 keeps its secret, and its end has not been announced.
    @Test func aCredentialSurvivesTheMigration() async throws {
        try await withTemporaryDirectory { directory in
            let (path, key) = ("\(directory)/provider.sqlite", try MasterKey.fixture(1))
            let pool = try DatabasePool(path: path)
            try SQLiteSchema.migrator.migrate(pool, upTo: "1 initial schema")
            let sealed = try key.seal(#"{"content":"pem"}"#, for: .credential(app: 1, .production))
            try await pool.write { database in
                try database.execute(sql: "INSERT INTO app (id, bundleID, createdAt) VALUES (1, 'com.example.app', 0)")
                let sql = "INSERT INTO credential VALUES (1, 0, 'certificate', NULL, NULL, ?)"
                try database.execute(sql: sql, arguments: [sealed])
            }
            try pool.close()
            let store = try SQLStore(path: path, masterKey: key)
            let stored = try #require(try await store.certificates().first)
            #expect(stored.credential == .certificate(pem: "pem", passphrase: nil))
            #expect(stored.announcedStage == nil)
            try await store.close()
        }
    }

    /// A database of version 0.1.0 is opened, keeps what it has, and takes what is new.
    @Test func aDatabaseOfTheFirstVersionKeepsItsNotificationsAndSchedules() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let (id, schedule) = (UUID(), UUID())
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "1 initial schema")
            try await queue.write { database in
                try database.execute(sql: "INSERT INTO app VALUES (1, 'com.example.MyApp', NULL, 0, NULL, 0)")
                try database.execute(
                    sql: """
                        INSERT INTO notification (id, prefix, app, state, lane, guarantee, audience, topic, pushType,
                            priority, expiration, payload, isTemplate, createdAt, startsAt)
                        VALUES (?, 1, 1, 'done', 1, 'atLeastOnce', '{"lastSeen":{"above":1600000000000}}',
                            'com.example.MyApp', 'alert', 10, '1700000000', x'7b7d', 0, 5, 5)
                        """,
                    arguments: [id.uuidString]
                )
                try database.execute(
                    sql: """
                        INSERT INTO schedule (id, app, name, request, rule, isPaused, createdAt, number)
                        VALUES (?, 1, 'daily', x'7b7d', ?, 0, 5, 1)
                        """,
                    arguments: [schedule.uuidString, Data(#"{"cron":"0 9 * * *","timeZone":"UTC"}"#.utf8)]
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let old = try #require(try await store.notification(id))
            #expect(old.name == nil && old.key == nil && old.resendOf == nil && old.content.expiresIn == nil)
            #expect(old.content.expiration == .at(seconds: 1_700_000_000))
            #expect(old.audience == .devices(.lastSeen(.above, Timestamp(seconds: 1_600_000_000))))
            #expect(try await store.schedule(schedule)?.key == nil)
            var new = try NotificationRecord.fixture(app: 1, to: .devices(.everyone))
            (new.name, new.content.expiresIn, new.resendOf) = ("Spring", 60, id)
            new.key = KeyReference(id: UUID(), name: "shop")
            _ = try await store.accept(new, shards: [], idempotency: nil)
            let read = try #require(try await store.notification(new.id))
            #expect(read.name == "Spring" && read.key == new.key && read.resendOf == id)
            #expect(read.content.expiresIn == 60)
            for (name, ids) in [("Spring", [new.id]), ("spring", [])] {
                var filter = NotificationFilter(apps: [1])
                filter.name = name
                let page = try await store.notifications(filter, sort: .newest, after: nil, limit: 10)
                #expect(page.entries.map(\.id) == ids)
            }
            try await store.close()
        }
    }

    /// A check of all tables with references takes minutes in a large database, and nothing is served meanwhile.
    @Test func theLatestMigrationsReadNoTableForItsReferences() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try DatabaseQueue(path: "\(directory)/provider.sqlite")
            let checks = Mutex(0)
            try await queue.write { database in
                database.trace { event in
                    guard case .statement(let statement) = event else { return }
                    if statement.sql.contains("foreign_key_check") { checks.withLock { $0 += 1 } }
                }
            }
            try SQLiteSchema.migrator.migrate(queue, upTo: "28 push resource origins")
            let before = checks.withLock { $0 }
            #expect(before > 0, "they are seen")
            try SQLiteSchema.migrator.migrate(queue)
            #expect(checks.withLock { $0 } == before)
            try queue.close()
        }
    }

    private static var credentialOfAMissingApp: ColumnValues {
        ["app": 7, "environment": 0, "kind": "key", "sealed": Data()]
    }

    /// Its owner was removed only if the statement says which one that is.
    @Test func aReferenceToAMissingRowIsRejected() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            await #expect(throws: StoreError.ownerRemoved(.app)) {
                try await store.database.write { database in
                    _ = try database.insert(into: "credential", of: .app, Self.credentialOfAMissingApp)
                }
            }
            await #expect(throws: StoreError.ownerRemoved(.app)) {
                try await store.database.write { database in
                    try database.replace(
                        in: "credential",
                        of: .app,
                        key: ["app": 7, "environment": 0],
                        ["kind": "key", "sealed": Data()]
                    )
                }
            }
            await #expect(throws: ForeignKeyViolation.self) {
                try await store.database.write { database in
                    _ = try database.insert(into: "credential", Self.credentialOfAMissingApp)
                }
            }
        }
    }

    /// What others refer to is not called removed, as it is still there.
    @Test func theDeletionOfAReferencedRowIsAnErrorOfTheDatabase() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Timestamp(milliseconds: 0)).app
            try await store.database.write { database in
                try database.execute(
                    sql: "INSERT INTO credential (app, environment, kind, sealed) VALUES (?, 0, 'key', x'')",
                    arguments: [app.id]
                )
            }
            await #expect(throws: ForeignKeyViolation.self) {
                _ = try await store.database.run(sql: "DELETE FROM app WHERE id = ?", [app.id])
            }
            await #expect(throws: ForeignKeyViolation.self) {
                _ = try await store.database.write { try $0.run(sql: "DELETE FROM app WHERE id = ?", app.id) }
            }
            #expect(try await store.apps().count == 1)
        }
    }

    /// A start of the wrong version must not lose what the right one can read.
    @Test func aDatabaseOfAnUnreleasedVersionIsRejectedAndUnchanged() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            var migrator = DatabaseMigrator()
            for name in ["1 apps, devices, keys", "2 notifications", "11 token memory"] {
                migrator.registerMigration(name) { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS app (id INTEGER)") }
            }
            try migrator.migrate(queue)
            try await queue.write { try $0.execute(sql: "INSERT INTO app VALUES (1)") }
            let error = StoreError.unreleasedSchema(path: path, migration: "11 token memory")
            #expect(throws: error) { try SQLStore(path: path, masterKey: try .fixture(1)) }
            #expect(error.description.contains("before 0.1.0 (its last migration is \"11 token memory\")"))
            #expect(error.description.contains("use the version that wrote it"))
            let (tables, apps) = try await queue.read { database in
                (
                    try database.value(sql: "SELECT count(*) FROM sqlite_master WHERE type = 'table'") as Int?,
                    try database.values(sql: "SELECT id FROM app") as [Int64]
                )
            }
            #expect(tables == 2)
            #expect(apps == [1])
        }
    }
}
