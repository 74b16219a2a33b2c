import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The search for old providers by their certificates.
@Suite(.timeLimit(.patience)) struct BinaryClientDirectoryTests {
    /// No bridge changes with an app that is added.
    @Test(arguments: StoreBackend.available)
    func anAppThatIsAddedHasItsTopicBeforeLong(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (time, certificate) = (ManualTime(), try PushCertificate(topic: "org.later"))
            let directory = BinaryClientDirectory(store: store, trustsTopics: true, time: time)
            let bridge = BridgeRecord(kind: .binary, name: "org.later", app: app, changedAt: time.now)
            _ = try await store.setBridge(bridge, keepsSecret: false)
            let client = try await directory.client(certificate.der).get()
            #expect(client.app == app)
            let topic = try #require(Topic("org.later"))
            _ = try await store.addApp(bundleID: topic, name: nil, now: time.now)
            time.advance(by: .seconds(10))
            let rejection = BinaryClientRejection.unknownCertificate(
                fingerprint: certificate.fingerprint,
                topic: "org.later"
            )
            #expect(try await directory.client(certificate.der) == .failure(rejection))
            #expect(try await !directory.isCurrent(client))
        }
    }
}
