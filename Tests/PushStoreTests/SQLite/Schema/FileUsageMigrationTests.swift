import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 32, from a database whose files were not counted.
@Suite(.timeLimit(.patience)) struct FileUsageMigrationTests {
    private let now = Timestamp(seconds: 100)

    /// Opens a database in which app 7 had two files and app 8 one. Two of the three have been unused for long.
    private func run(_ body: (SQLStore) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "28 push resource origins")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES
                            (7, 'com.example.Old', 1), (8, 'com.example.Other', 1), (9, 'com.example.Empty', 1);
                        INSERT INTO file (hash, app, size, contentType, name, createdAt, unusedSince) VALUES
                            (randomblob(32), 7, 40, 'application/zip', 'a', 1, NULL),
                            (randomblob(32), 7, 2, 'application/zip', 'b', 1, 1),
                            (randomblob(32), 8, 100, 'application/zip', 'c', 1, 1)
                        """
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            try await body(store)
            #expect(try await store.checkIntegrity() == [])
            try await store.close()
        }
    }

    /// Returns the app, the number of files and the bytes of each row.
    private func usage(_ store: SQLStore) async throws -> [[Int64]] {
        try await store.database.read { database in
            try database.rows(sql: "SELECT * FROM fileUsage ORDER BY app").map { row in
                ["app", "files", "bytes"].map { (column: String) in row[column] as Int64? ?? -1 }
            }
        }
    }

    /// Adds a complete file of 5 bytes.
    private func add(_ byte: UInt8, to app: Int64, in store: SQLStore) async throws {
        let upload = UploadRecord(
            id: UUID(),
            app: app,
            size: 5,
            hash: try #require(ContentHash(bytes: [UInt8](repeating: byte, count: 32))),
            contentType: "application/zip",
            name: "new.zip",
            createdAt: self.now
        )
        #expect(try await store.addUpload(upload, quota: nil) == .added)
        #expect(try await store.completeUpload(upload.id, now: self.now)?.size == 5)
    }

    @Test func theFilesOfAnOldDatabaseAreCounted() async throws {
        try await self.run { store in
            let usage = try await self.usage(store)
            #expect(usage == [[7, 2, 42], [8, 1, 100]])
            #expect(try await store.storedBytes(app: 7) == 42)
            #expect(try await store.storedBytes(app: 9) == 0)
            #expect(try await store.files(app: 7, after: nil, limit: 10).count == 2)
        }
    }

    @Test func theCountFollowsTheFiles() async throws {
        try await self.run { store in
            try await self.add(1, to: 7, in: store)
            #expect(try await self.usage(store) == [[7, 3, 47], [8, 1, 100]])
            try await self.add(1, to: 7, in: store)
            #expect(try await self.usage(store) == [[7, 3, 47], [8, 1, 100]], "the same again is none more")
            try await self.add(1, to: 9, in: store)
            #expect(try await self.usage(store) == [[7, 3, 47], [8, 1, 100], [9, 1, 5]])
            #expect(try await store.forgetFiles(unusedSince: Timestamp(seconds: 1), limit: 10) == 2)
            #expect(try await self.usage(store) == [[7, 2, 45], [8, 0, 0], [9, 1, 5]])
            try await self.add(2, to: 8, in: store)
            #expect(try await self.usage(store) == [[7, 2, 45], [8, 1, 5], [9, 1, 5]])
        }
    }

    /// The files are more than one step of the erasure removes.
    @Test func theCountGoesWithItsApp() async throws {
        try await self.run { store in
            try await store.database.write { database in
                let sql = """
                    WITH RECURSIVE numbered (number) AS (
                        SELECT 1 UNION ALL SELECT number + 1 FROM numbered WHERE number < ?)
                    INSERT INTO file (hash, app, size, contentType, name, createdAt)
                    SELECT randomblob(32), 7, 1, 'application/zip', 'd', 1 FROM numbered
                    """
                try database.run(sql: sql, [SQLStore.erasedAtOnce + 500])
            }
            #expect(try await self.usage(store).first == [7, 1502, 1542])
            let erasure = try #require(try await store.eraseApp(7, now: self.now, steady: self.now))
            while try await store.continueErasure(erasure, now: self.now) {
                #expect(try await store.checkIntegrity() == [])
            }
            #expect(try await self.usage(store) == [[8, 1, 100]])
        }
    }

    /// Beginning an upload takes the only writer the same time, however many files the app has.
    @Test func noFileIsReadForWhatAnAppHasStored() async throws {
        try await self.run { store in
            let plan = try await store.database.read { database in
                try database.plan(of: SQLStore.storedOfApp, [7])
            }
            let words = plan.flatMap { $0.split(separator: " ") }
            #expect(words.contains("fileUsage") && words.contains("uploadByApp"), "\(plan)")
            #expect(!words.contains("file") && !words.contains("fileByApp"), "\(plan)")
        }
    }
}
