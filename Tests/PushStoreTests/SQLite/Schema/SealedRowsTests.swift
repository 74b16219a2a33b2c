import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The sealed secrets of a database and its master key.
@Suite(.timeLimit(.patience)) struct SealedRowsTests {
    let now = Vectors.issuedAt

    @Test func credentialsThatAreSwappedOpenNothing() async throws {
        try await self.withStore { store, path in
            let apps = try await self.apps(store)
            for (app, pem) in zip(apps, ["mine", "theirs"]) {
                for environment in PushEnvironment.allCases {
                    let credential = CredentialRecord.certificate(pem: "\(pem) \(environment)", passphrase: nil)
                    try await store.setCredential(credential, app: app, environment: environment)
                }
            }
            // Of another app, and of the same app in the other environment.
            try await store.execute(
                """
                UPDATE credential SET sealed = (
                    SELECT sealed FROM credential AS other WHERE other.app = 2 AND other.environment = 0)
                WHERE app = 1 AND environment = 0;
                UPDATE credential SET sealed = (
                    SELECT sealed FROM credential AS other WHERE other.app = 2 AND other.environment = 0)
                WHERE app = 2 AND environment = 1;
                """
            )
            await #expect(throws: StoreError.wrongMasterKey) {
                try await store.credential(app: apps[0], environment: .production)
            }
            await #expect(throws: StoreError.wrongMasterKey) {
                try await store.credential(app: apps[1], environment: .sandbox)
            }
            #expect(try await store.credential(app: apps[1], environment: .production) != nil)
            #expect(try await store.checkIntegrity().count == 2)
            try await store.close()
            // Two rows that do not open do not mean a wrong master key, and a start does not repair them.
            let again = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await again.checkIntegrity().count == 2)
            #expect(try await again.credential(app: apps[0], environment: .sandbox) != nil)
        }
    }

    @Test(arguments: ["sealed = (SELECT sealed FROM webhook AS other WHERE other.url LIKE '%2')", "app = 2"])
    func aWebhookWithTheSecretOfAnotherIsDamaged(change: String) async throws {
        try await self.withStore { store, _ in
            let apps = try await self.apps(store)
            let webhooks = (1...2).map { number in
                WebhookRecord(
                    id: UUID(),
                    app: apps[0],
                    url: "https://example.com/\(number)",
                    secret: "whisper \(number)",
                    events: [.token],
                    createdAt: self.now
                )
            }
            for webhook in webhooks { try await store.addWebhook(webhook) }
            try await store.execute("UPDATE webhook SET \(change) WHERE url LIKE '%1'")
            await #expect(throws: DamagedRow.self) { try await store.webhook(webhooks[0].id) }
            #expect(try await store.webhook(webhooks[1].id) == webhooks[1])
        }
    }

    @Test(arguments: ["sealed = (SELECT sealed FROM entitlementServer AS other WHERE app = 2)", "form = 'gopher'"])
    func aPublishersServerWithTheSecretOfAnotherIsDamaged(change: String) async throws {
        try await self.withStore { store, _ in
            let apps = try await self.apps(store)
            let servers = apps.map { app in
                EntitlementServerRecord(app: app, url: "https://example.com", secret: "of \(app)", changedAt: self.now)
            }
            for server in servers { _ = try await store.setEntitlementServer(server, keepsSecret: true) }
            try await store.execute("UPDATE entitlementServer SET \(change) WHERE app = 1")
            await #expect(throws: DamagedRow.self) { try await store.entitlementServer(app: apps[0]) }
            #expect(try await store.entitlementServer(app: apps[1]) == servers[1])
            #expect(try await store.checkIntegrity().count == 1)
            // Setting it again mends it, with a secret of its own.
            #expect(try await store.setEntitlementServer(servers[0], keepsSecret: true) == servers[0])
            #expect(try await store.checkIntegrity() == [])
        }
    }

    @Test(arguments: ["credential", "webhook", "entitlementServer"])
    func aMissingMasterKeyIsNotReplacedBesideSecrets(kind: String) async throws {
        try await self.withStore { store, path in
            let key = path + ".key"
            // Nothing is lost yet.
            #expect(try SQLiteStoreFile(path: path).holdsSecrets() == false)
            let app = try await self.apps(store)[0]
            if kind == "credential" {
                try await store.setCredential(
                    .certificate(pem: "pem", passphrase: nil),
                    app: app,
                    environment: .sandbox
                )
            } else if kind == "entitlementServer" {
                let url = "https://example.com"
                let server = EntitlementServerRecord(app: app, url: url, secret: "whisper", changedAt: self.now)
                _ = try await store.setEntitlementServer(server, keepsSecret: true)
            } else {
                let webhook = WebhookRecord(
                    id: UUID(),
                    app: app,
                    url: "https://example.com",
                    secret: "whisper",
                    events: [.token],
                    createdAt: self.now
                )
                try await store.addWebhook(webhook)
            }
            for isOpen in [true, false] {
                if !isOpen { try await store.close() }
                #expect(throws: StoreError.missingMasterKey(path: key, database: path)) {
                    try MasterKey.load(orCreateAt: key, besideDatabase: path)
                }
                #expect(!FileManager.default.fileExists(atPath: key))
            }
            let text = StoreError.missingMasterKey(path: key, database: path).description
            #expect(text.contains("\(key) is missing"))
            let again = try SQLStore(path: path, masterKey: try .fixture(1))
            try await again.execute("DELETE FROM \(kind)")
            try await again.close()
            // No secret needs the old key any more.
            let new = try MasterKey.load(orCreateAt: key, besideDatabase: path)
            try await SQLStore(path: path, masterKey: new).close()
            await #expect(throws: Never.self) { try await SQLStore(path: path, masterKey: new).close() }
        }
    }

    @Test func aMasterKeyIsMadeBesideNoDatabaseOrAnEmptyOne() throws {
        try withTemporaryFolder { folder in
            _ = try MasterKey.load(orCreateAt: "\(folder)/1.key", besideDatabase: "\(folder)/none.sqlite")
            #expect(FileManager.default.createFile(atPath: "\(folder)/empty.sqlite", contents: nil))
            _ = try MasterKey.load(orCreateAt: "\(folder)/2.key", besideDatabase: "\(folder)/empty.sqlite")
            // With a key there was a database: this one is not what is left of it.
            #expect(throws: StoreError.self) {
                try MasterKey.load(orCreateAt: "\(folder)/2.key", besideDatabase: "\(folder)/empty.sqlite")
            }
            _ = try MasterKey.load(orCreateAt: "\(folder)/2.key", besideDatabase: "\(folder)/none.sqlite")
            // A file that cannot be read may hold secrets.
            try Data(repeating: 65, count: 9000).write(to: URL(filePath: "\(folder)/garbage.sqlite"))
            #expect(throws: StoreError.self) {
                try MasterKey.load(orCreateAt: "\(folder)/3.key", besideDatabase: "\(folder)/garbage.sqlite")
            }
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/3.key"))
        }
    }

    /// A start that is interrupted leaves no empty file, which the next start would refuse.
    @Test func aNewDatabaseIsNeverEmptyAndItsOwnersAlone() async throws {
        try await self.withStore { store, path in
            #expect(store.fileBytes > 0)
            #expect(FileExposure.mode(of: path) == nil)
            #expect(!FileManager.default.fileExists(atPath: "\(path).new"))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            #expect(FileExposure.mode(of: path) == "0644")
            try await store.close()
        }
    }

    /// Their hashes need the key as well, and tell nothing about it.
    @Test func passwordsAloneNeedTheirMasterKey() async throws {
        try await self.withStore { store, path in
            try await store.execute(
                "INSERT INTO person (id, name, nameKey, role, password, createdAt) VALUES ('1', 'A', 'a', 'admin', 'hash', 0)"
            )
            try await store.close()
            #expect(throws: StoreError.wrongMasterKey) { try SQLStore(path: path, masterKey: try .fixture(2)) }
            #expect(try !SQLiteStoreFile(path: path).isOpened(by: try .fixture(2)))
            try await SQLStore(path: path, masterKey: try .fixture(1)).close()
        }
    }

    /// A database of an older version has fewer tables.
    @Test func aKeyIsCheckedBesideAnOlderDatabase() async throws {
        try await self.withStore { store, path in
            let app = try await self.apps(store)[0]
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            for table in ["chatSession", "vapidKey", "masterKeyMark"] { try await store.execute("DROP TABLE \(table)") }
            try await store.close()
            #expect(try SQLiteStoreFile(path: path).isOpened(by: try .fixture(1)))
            #expect(try !SQLiteStoreFile(path: path).isOpened(by: try .fixture(2)))
        }
    }

    @Test func theOnlySecretMayBeDamagedWithoutStoppingTheStart() async throws {
        try await self.withStore { store, path in
            let app = try await self.apps(store)[0]
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            try await store.execute("UPDATE credential SET sealed = randomblob(60)")
            try await store.close()
            #expect(throws: StoreError.wrongMasterKey) { try SQLStore(path: path, masterKey: try .fixture(2)) }
            let again = try SQLStore(path: path, masterKey: try .fixture(1))
            #expect(try await again.checkIntegrity().count == 1)
        }
    }

    private func apps(_ store: SQLStore) async throws -> [Int64] {
        var apps: [Int64] = []
        for name in ["a", "b"] {
            apps.append(try await store.addApp(bundleID: try #require(Topic(name)), name: nil, now: self.now).app.id)
        }
        return apps
    }

    private func withStore(_ body: (SQLStore, String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            try await body(try SQLStore(path: path, masterKey: try .fixture(1)), path)
        }
    }

    private func withTemporaryFolder(_ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "martlet-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }
}

extension SQLStore {
    fileprivate func execute(_ sql: String) async throws {
        try await self.database.write { try $0.execute(sql: sql) }
    }
}
