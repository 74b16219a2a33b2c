import Foundation
import GRDB
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The tables of a new database, and databases of other schemas.
@Suite(.timeLimit(.minutes(5))) struct SQLiteSchemaTests {
    @Test func aNewDatabaseHasOneMigrationAndSoundTables() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            for _ in 1...2 {
                let store = try SQLiteStore(path: path, masterKey: try .fixture(1))
                let (migrations, faults, strays) = try await store.database.read { database in
                    (
                        try SQLiteSchema.migrations(in: database),
                        try String.fetchAll(database, sql: "PRAGMA integrity_check"),
                        try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
                    )
                }
                #expect(migrations == ["1 initial schema"], "a restart runs nothing again")
                #expect(faults == ["ok"])
                #expect(strays == 0)
                try store.close()
            }
        }
    }

    /// A table that is not strict stores texts where numbers belong; a missing index makes a page a scan.
    @Test func everyTableIsStrictAndEveryIndexIsThere() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let (loose, indexes) = try await store.database.read { database in
                (
                    try String.fetchAll(
                        database,
                        sql: """
                            SELECT name FROM pragma_table_list
                            WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'
                            """
                    ),
                    try Int.fetchOne(
                        database,
                        sql: "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql != ''"
                    )
                )
            }
            #expect(loose == ["grdb_migrations"])
            #expect(indexes == 44)
        }
    }

    @Test func aReferenceToAMissingRowIsRejected() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            await #expect(throws: DatabaseError.self) {
                try await store.database.write { database in
                    try database.execute(sql: "INSERT INTO credential VALUES (7, 0, 'key', NULL, NULL, x'')")
                }
            }
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
            #expect(throws: error) { try SQLiteStore(path: path, masterKey: try .fixture(1)) }
            #expect(error.description.contains("before 0.1.0 (its last migration is \"11 token memory\")"))
            #expect(error.description.contains("use the version that wrote it"))
            let (tables, apps) = try await queue.read { database in
                (
                    try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'table'"),
                    try Int64.fetchAll(database, sql: "SELECT id FROM app")
                )
            }
            #expect(tables == 2)
            #expect(apps == [1])
        }
    }
}
