import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The search for old providers by their certificates.
@Suite(.timeLimit(.patience)) struct BinaryClientDirectoryTests {
    private static let topic = "org.later"

    private static func add(to store: any ProviderStore) async throws -> Int64 {
        let bundleID = try #require(Topic(Self.topic))
        return try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
    }

    private static func rejection(_ certificate: PushCertificate) -> BinaryClientRejection {
        .unknownCertificate(fingerprint: certificate.fingerprint, topic: Self.topic)
    }

    /// No bridge changes with an app that is added.
    @Test(arguments: StoreBackend.available)
    func anAppThatIsAddedHasItsTopicAtOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let certificate = try PushCertificate(topic: Self.topic)
            let directory = BinaryClientDirectory(store: store, trustsTopics: true)
            let bridge = BridgeRecord(kind: .binary, name: Self.topic, app: app, changedAt: Vectors.issuedAt)
            _ = try await store.setBridge(bridge, keepsSecret: false)
            let client = try await directory.client(certificate.der).get()
            #expect(client.app == app)
            _ = try await Self.add(to: store)
            #expect(try await directory.client(certificate.der) == .failure(Self.rejection(certificate)))
            #expect(try await !directory.isCurrent(client))
        }
    }

    /// A neighbour names the certificate in a bridge with a name of its own. With an authority, the topic is proven to be another
    /// app's. Without one, the topic is only what the maker of the certificate claims.
    @Test(arguments: StoreBackend.available, [true, false])
    func onlyWithAnAuthorityACertificateIsItsTopicsAppAlone(backend: StoreBackend, hasAuthority: Bool) async throws {
        try await backend.withStore { store, app in
            let certificate = try PushCertificate(topic: Self.topic)
            let directory = BinaryClientDirectory(store: store, trustsTopics: hasAuthority)
            let settings: JSONValue = ["certificates": [.string(certificate.fingerprint)]]
            var bridge = BridgeRecord(
                kind: .binary,
                name: "com.example.Free",
                app: app,
                settings: settings,
                changedAt: Vectors.issuedAt
            )
            _ = try await store.setBridge(bridge, keepsSecret: false)
            let before = try await directory.client(certificate.der).get()
            #expect(before.app == app, "no app has the topic")
            let owner = try await Self.add(to: store)
            let after: Result<BinaryClient, BinaryClientRejection> =
                hasAuthority ? .failure(Self.rejection(certificate)) : .success(before)
            #expect(try await directory.client(certificate.der) == after)
            #expect(try await directory.isCurrent(before) == !hasAuthority)
            (bridge.name, bridge.app) = ("\(Self.topic).voip", owner)
            _ = try await store.setBridge(bridge, keepsSecret: false)
            #expect(try await directory.client(certificate.der).get().app == (hasAuthority ? owner : app))
        }
    }
}
