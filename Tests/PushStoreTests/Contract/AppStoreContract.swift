import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of every ``AppStore``.
@Suite(.timeLimit(.patience)) struct AppStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func anAppIsAddedOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let bundleID = try #require(Topic("com.example.Another"))
            let first = try await store.addApp(bundleID: bundleID, name: "Another", now: self.now)
            let second = try await store.addApp(bundleID: bundleID, name: "Renamed", now: self.now)
            #expect(first.isNew)
            #expect(!second.isNew)
            #expect(second.app == first.app)
            #expect(try await store.apps().map(\.bundleID.name) == ["com.example.Another", Vectors.bundleID])
            #expect(try await store.app(bundleID: bundleID) == first.app)
            #expect(try await store.app(bundleID: try #require(Topic("com.example"))) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRateIsKeptUntilItIsRemoved(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.changeApp(app, AppChanges(rate: .set(500)))
            #expect(try await store.apps().map(\.rate) == [500])
            _ = try await store.changeApp(app, AppChanges(rate: .clear))
            #expect(try await store.apps().map(\.rate) == [nil])
        }
    }

    @Test(arguments: StoreBackend.available)
    func changesAreMadeTogetherAndWhatIsNotNamedStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var changes = AppChanges(name: .set("Shop"), rate: .set(5), receipts: .counts)
            changes.cap = .set(FrequencyCap(count: 2, window: 60))
            (changes.installationTags, changes.installationAttributes) = (NamePatterns(["a*"]), NamePatterns(["b"]))
            let changed = try #require(try await store.changeApp(app, changes))
            #expect(changed.name == "Shop" && changed.rate == 5 && changed.receipts == .counts)
            #expect(changed.cap == FrequencyCap(count: 2, window: 60))
            #expect(changed.installationTags.texts == ["a*"] && changed.installationAttributes.texts == ["b"])
            #expect(try await store.app(id: app) == changed)
            let cleared = try #require(try await store.changeApp(app, AppChanges(name: .clear, cap: .clear)))
            #expect(cleared.name == nil && cleared.cap == nil && cleared.rate == 5 && cleared.receipts == .counts)
            #expect(try await store.changeApp(app + 1, AppChanges(rate: .set(1))) == nil)
            let bundleID = try #require(Topic("com.example.New"))
            let settings = AppChanges(name: .set("New"), rate: .set(7), receipts: .device)
            let added = try await store.addApp(bundleID: bundleID, settings, now: self.now)
            #expect(added.isNew && added.app.name == "New" && added.app.rate == 7 && added.app.receipts == .device)
            let again = try await store.addApp(bundleID: bundleID, changes, now: self.now)
            #expect(!again.isNew && again.app == added.app)
        }
    }

    @Test(arguments: StoreBackend.available)
    func everyKindOfCredentialReadsBackAndIsReplaced(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let credentials: [CredentialRecord] = [
                .key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey),
                .certificate(pem: "a certificate\nand a key\n", passphrase: nil),
                .certificate(pem: "a certificate", passphrase: "päss\"word"),
                .archive(p12: [0, 1, 255, 0], passphrase: ""),
                .archive(p12: [], passphrase: nil),
            ]
            for credential in credentials {
                try await store.setCredential(credential, app: app, environment: .sandbox)
                #expect(try await store.credential(app: app, environment: .sandbox) == credential)
            }
            #expect(try await store.environments(app: app) == [.sandbox])
            #expect(try await store.credential(app: app, environment: .production) == nil)
            #expect(try await store.removeCredential(app: app, environment: .sandbox))
            #expect(try await !store.removeCredential(app: app, environment: .sandbox))
            #expect(try await store.environments(app: app).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anotherCredentialForgetsWhatTheOldOneLedTo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var health = EnvironmentHealth()
            health.breakerOpenSince = self.now
            health.breakerReason = "too many BadDeviceToken"
            for environment in PushEnvironment.allCases {
                try await store.setHealth(health, app: app, environment: environment)
            }
            #expect(try await store.health(app: app, environment: .sandbox) == health)
            let credential = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(credential, app: app, environment: .sandbox)
            #expect(try await store.health(app: app, environment: .sandbox) == EnvironmentHealth(epoch: 1))
            #expect(try await store.health(app: app, environment: .production) == health)
        }
    }
}
