import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The file, the master key and the pragmas of the SQLite store.
@Suite(.timeLimit(.patience)) struct SQLiteStoreTests {
    let credential = CredentialRecord.key(
        teamID: Vectors.teamID,
        keyID: Vectors.keyID,
        privateKey: Vectors.privateKey
    )

    /// A request whose client has left reads no further row.
    @Test func aCancelledTaskRunsNoFurtherStatement() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let task = Task {
                try await store.database.read { database in
                    let before = try database.count(sql: "SELECT 1")
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try before + database.count(sql: "SELECT 2")
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await store.database.read { try $0.count(sql: "SELECT 2") } == 2)
            try await store.close()
        }
    }

    @Test func everythingIsThereAfterReopening() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let app = try await store.addApp(
                bundleID: try #require(Topic("com.example.MyApp")),
                name: "My app",
                now: Vectors.issuedAt
            ).app
            try await store.setCredential(self.credential, app: app.id, environment: .sandbox)
            var notification = try NotificationRecord.fixture(app: app.id, to: .tokens([.numbered(1)]))
            notification.progress.ahead.nextPageAt = .atOnce
            _ = try await store.accept(notification, shards: [], idempotency: nil)
            try await store.close()

            let again = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await again.app(bundleID: app.bundleID) == app)
            #expect(try await again.credential(app: app.id, environment: .sandbox) == self.credential)
            #expect(try await again.notification(notification.id) == notification)
        }
    }

    @Test func noPartOfAPrivateKeyIsInTheFiles() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let app = try await store.addApp(bundleID: try #require(Topic("a")), name: nil, now: Vectors.issuedAt).app
            try await store.setCredential(self.credential, app: app.id, environment: .sandbox)
            let lines = Vectors.privateKey.split(separator: "\n").map { Data($0.utf8) }
            for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
                let content = try Data(contentsOf: URL(filePath: "\(directory)/\(file)"))
                #expect(lines.allSatisfy { content.range(of: $0) == nil }, "\(file)")
            }
        }
    }

    @Test func aWrongMasterKeyIsNoticedAtStart() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let app = try await store.addApp(bundleID: try #require(Topic("a")), name: nil, now: Vectors.issuedAt).app
            try await store.setCredential(self.credential, app: app.id, environment: .sandbox)
            try await store.close()
            #expect(throws: StoreError.wrongMasterKey) { try SQLStore(path: path, masterKey: try .fixture(2)) }
        }
    }

    @Test func whatIsAcceptedIsSyncedToDisk() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let (journal, synchronous) = try await store.database.write { database in
                (
                    try database.value(sql: "PRAGMA journal_mode") as String?,
                    try database.value(sql: "PRAGMA synchronous") as Int?
                )
            }
            #expect(journal == "wal")
            #expect(synchronous == 2, "2 is FULL")
        }
    }

    @Test func aFileThatIsNotADatabaseIsNamed() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            try Data(repeating: 65, count: 10_000).write(to: URL(filePath: path))
            #expect {
                try SQLStore(path: path, masterKey: try .fixture(1))
            } throws: { error in
                guard case StoreError.cannotOpen(path, _) = error else { return false }
                return true
            }
        }
    }

    @Test func aNewerSchemaIsRejected() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            try await store.database.write { database in
                try database.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('999 from the future')")
            }
            try await store.close()
            #expect(throws: StoreError.newerSchema(path: path)) {
                try SQLStore(path: path, masterKey: try .fixture(1))
            }
        }
    }

    @Test func aMasterKeyIsMadeOnceForTheOwnerOnly() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/master.key"
            let sealed = try MasterKey.load(orCreateAt: path).seal("secret", for: .mark)
            #expect(try MasterKey.load(orCreateAt: path).open(sealed, for: .mark) == "secret")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try Data([1, 2, 3]).write(to: URL(filePath: path))
            #expect(throws: StoreError.badMasterKey(path: path, why: "it must have 32 bytes, not 3")) {
                try MasterKey.load(orCreateAt: path)
            }
        }
    }

    @Test func aMasterKeyThatCannotBeKeptIsNotUsed() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/missing/master.key"
            #expect(throws: StoreError.badMasterKey(path: path, why: "it cannot be written: No such file or directory"))
            {
                try MasterKey.load(orCreateAt: path)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.isEmpty)
        }
    }

    @Test func masterKeysMadeAtTheSameTimeAreTheSame() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/master.key"
            let keys = try await withThrowingTaskGroup(of: MasterKey.self) { group in
                for _ in 0..<8 { group.addTask { try MasterKey.load(orCreateAt: path) } }
                return try await group.reduce(into: [MasterKey]()) { $0.append($1) }
            }
            let sealed = try #require(keys.first).seal("secret", for: .mark)
            let opened = try keys.map { try $0.open(sealed, for: .mark) }
            #expect(opened.allSatisfy { $0 == "secret" })
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names == ["master.key"])
        }
    }

    @Test func oneFileHoldsEverythingOnceItIsClosed() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            _ = try await store.addApp(bundleID: try #require(Topic("a")), name: nil, now: Vectors.issuedAt)
            try await store.close()
            try FileManager.default.copyItem(atPath: path, toPath: "\(directory)/copy.sqlite")
            let copy = try SQLStore(path: "\(directory)/copy.sqlite", masterKey: try .fixture(1))
            #expect(try await copy.apps().count == 1)
        }
    }
}
