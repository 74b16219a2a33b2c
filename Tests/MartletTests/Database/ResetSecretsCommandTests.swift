import Foundation
import ProviderAPI
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import martlet

/// A lost master key, and a lost last admin key.
@Suite(.timeLimit(.patience)) struct ResetSecretsCommandTests {
    /// A closed database with secrets, and its master key.
    private func makeDatabase(in directory: String) async throws {
        let store = try SQLStore(
            path: "\(directory)/provider.sqlite",
            masterKey: MasterKey.load(orCreateAt: "\(directory)/master.key")
        )
        let bundleID = try #require(Topic(Vectors.bundleID))
        let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
        let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
        try await store.setCredential(key, app: app, environment: .sandbox)
        // Uploads make it, and the recipe of before did not name it.
        _ = try await store.addressKey()
        try await store.register(1, app: app)
        try await store.close()
    }

    private func open(_ directory: String) throws -> SQLStore {
        let path = "\(directory)/provider.sqlite"
        let key = try MasterKey.load(orCreateAt: "\(directory)/master.key", besideDatabase: path)
        return try SQLStore(path: path, masterKey: key)
    }

    @Test(arguments: [nil, Data(repeating: 7, count: 32)])
    func afterALostMasterKeyEverythingElseIsThere(other: Data?) async throws {
        try await withTemporaryDirectory { directory in
            try await self.makeDatabase(in: directory)
            let key = "\(directory)/master.key"
            try FileManager.default.removeItem(atPath: key)
            if let other { try other.write(to: URL(filePath: key)) }
            #expect(throws: StoreError.self) { try self.open(directory) }
            let words = ["reset-secrets", "--data-directory", directory]
            let said = try await martlet(words)
            #expect(said.contains("removed 1 credentials") && said.contains("keys for the addresses of files"))
            #expect(said.contains("before-reset"))
            #expect(FileManager.default.fileExists(atPath: "\(directory)/provider.sqlite.before-reset"))
            let store = try self.open(directory)
            #expect(try await store.devices(app: 1, audience: .everyone, after: 0, limit: 10).count == 1)
            #expect(try await store.credential(app: 1, environment: .sandbox) == nil)
            #expect(try await store.checkIntegrity() == [])
            try await store.close()
        }
    }

    @Test func aMasterKeyThatFitsIsNotDoubted() async throws {
        try await withTemporaryDirectory { directory in
            try await self.makeDatabase(in: directory)
            let words = ["reset-secrets", "--data-directory", directory]
            #expect(await failure { try await martlet(words) }?.contains("--force") == true)
            #expect(try await martlet(words + ["--force", "--json"]).contains(#""secrets":"credentials""#))
            #expect(try await martlet(words + ["--force"]).contains("before-reset-2"))
        }
    }

    @Test func anAdminKeyIsMadeWithoutOne() async throws {
        try await withTemporaryDirectory { directory in
            try await self.makeDatabase(in: directory)
            let key = try await martlet(["reset-admin-key", "--data-directory", directory])
            let store = try self.open(directory)
            let keys = try await store.keys()
            #expect(keys.count == 1 && keys.first?.scopes == [.admin])
            #expect(!key.isEmpty && !key.contains(" ") && !keys.contains { $0.name == key })
            try await store.close()
        }
    }
}
