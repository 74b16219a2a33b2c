import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 5, from a database that version 0.1.0 has written.
@Suite(.timeLimit(.patience)) struct KeysPerAppMigrationTests {
    @Test func keysAuditAndAppsOfTheFirstVersionStay() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let (key, queue) = (UUID(), try DatabaseQueue(path: path))
            var configuration = SQLiteSchema.migrator
            configuration.eraseDatabaseOnSchemaChange = false
            try configuration.migrate(queue, upTo: "1 initial schema")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1);
                        INSERT INTO audit (at, key, keyName, action, status) VALUES (1, NULL, 'ci', 'POST /v1/apps', 201);
                        """
                )
                try database.execute(
                    sql: "INSERT INTO apiKey VALUES (?, x'0102', 'ci', 'admin', 1)",
                    arguments: [key.uuidString]
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let record = APIKeyRecord(id: key, name: "ci", scopes: [.admin], createdAt: Timestamp(milliseconds: 1))
            #expect(try await store.key(hash: [1, 2]) == record)
            #expect(try await store.deleteKey(key) == .lastAdmin)
            #expect(try await store.audit(before: nil, limit: 10).map(\.action) == ["POST /v1/apps"])
            #expect(try await store.apps().map(\.id) == [7])
            let bundleID = try #require(Topic("com.example.New"))
            let now = Timestamp(milliseconds: 2)
            #expect(try await store.addApp(bundleID: bundleID, name: nil, now: now).app.id == 8)
            try await store.close()
        }
    }
}
