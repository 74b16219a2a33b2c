import Foundation
import Logging
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The ends of certificates, which an operator is warned of.
@Suite(.timeLimit(.patience)) struct CredentialExpiryMonitorTests {
    private let certificate: CredentialRecord
    private let expires: Timestamp

    init() throws {
        let made = try SelfSignedCertificate.shared.get()
        self.certificate = .certificate(pem: "\(made.pem)\n\(made.key)", passphrase: nil)
        self.expires = try #require(try self.certificate.credential().expires)
    }

    /// Returns the lines of a monitor that is started anew, as after a restart.
    private func lines(_ store: any ProviderStore, daysLeft days: Int64, ahead: Bool = false) async -> [String] {
        let log = RecordedLog(level: .info)
        let now = self.expires.advanced(by: .seconds(-days * 86_400 - 60))
        let time = ahead ? ManualTime(wall: now, steady: now.advanced(by: .seconds(-86_400 * 400))) : ManualTime(now)
        await CredentialExpiryMonitor(store: store, webhookWake: WakeSignal(), time: time, logger: log.logger).check()
        return log.lines
    }

    @Test(arguments: StoreBackend.available)
    func eachStageHasOneLineHoweverOftenItStarts(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setCredential(self.certificate, app: app, environment: .production)
            #expect(await self.lines(store, daysLeft: 31) == [])
            // The first days on which 30, 14, 7 days and one day are not left any more.
            for days in [29, 13, 6, 0] as [Int64] {
                let subject = "app=\(Vectors.bundleID) days=\(days) environment=production"
                let line = "certificate expires \(subject) expires=\(self.expires.rfc3339)"
                #expect(await self.lines(store, daysLeft: days) == [line])
                #expect(await self.lines(store, daysLeft: days) == [])
            }
            let expired = await self.lines(store, daysLeft: -2)
            #expect(expired.count == 1)
            #expect(expired.first?.hasPrefix("certificate has expired app=\(Vectors.bundleID)") == true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anotherCertificateBeginsAnew(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setCredential(self.certificate, app: app, environment: .production)
            let old = try #require(try await store.certificates().first)
            #expect(await self.lines(store, daysLeft: 5).count == 1)
            try await store.setCredential(self.certificate, app: app, environment: .production)
            #expect(
                try await !store.announceEnd(of: old, stage: 1, event: Data(), now: Vectors.issuedAt),
                "it was replaced since it was read"
            )
            #expect(await self.lines(store, daysLeft: 5).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aClockThatIsNotBelievedAnnouncesNothing(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setCredential(self.certificate, app: app, environment: .production)
            #expect(await self.lines(store, daysLeft: 5, ahead: true) == [])
        }
    }

    @Test(arguments: StoreBackend.available)
    func certificatesAreKnownByAppAndEnvironmentAndKeysAreNot(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(
                bundleID: try #require(Topic("com.example.other")),
                name: nil,
                now: Vectors.issuedAt
            )
            try await store.setCredential(self.certificate, app: app, environment: .production)
            try await store.setCredential(self.certificate, app: other.app.id, environment: .sandbox)
            let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
            try await store.setCredential(key, app: app, environment: .sandbox)
            let monitor = CredentialExpiryMonitor(
                store: store,
                webhookWake: WakeSignal(),
                time: ManualTime(),
                logger: silentLogger
            )
            await monitor.check()
            let known = monitor.certificates.map { "\($0.bundleID.name) \($0.environment.rawValue)" }
            #expect(Set(known) == ["\(Vectors.bundleID) production", "com.example.other sandbox"])
            #expect(monitor.certificates.allSatisfy { $0.expires == self.expires })
        }
    }

    @Test(arguments: StoreBackend.available)
    func aWebhookGetsEachStageOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for kind in [WebhookRecord.Event.credential, .token] {
                let url = "https://hooks.example.com/\(kind.rawValue)"
                let secret = "whsec_\(kind.rawValue)"
                try await store.addWebhook(
                    WebhookRecord(
                        id: UUID(),
                        app: app,
                        url: url,
                        secret: secret,
                        events: [kind],
                        createdAt: Vectors.issuedAt
                    )
                )
            }
            try await store.setCredential(self.certificate, app: app, environment: .production)
            for _ in 1...2 { _ = await self.lines(store, daysLeft: 5) }
            _ = await self.lines(store, daysLeft: -1)
            let blocks = try await store.eventBlocks(app: app, kinds: [.credential], after: 0, limit: 10)
            let events = try blocks.map { try JSONValue(parsing: $0.events) }
            #expect(events.map { $0["action"] } == ["expiring", "expired"])
            #expect(events.map { $0["days"] } == [7, 0])
            #expect(events.allSatisfy { $0["type"] == "credential" && $0["environment"] == "production" })
            #expect(events.first?["expiresAt"] == .string(self.expires.rfc3339))
            #expect(Set(events.map { $0["id"].stringValue }).count == 2)
            #expect(try await store.eventBlocks(app: app, kinds: [.token], after: 0, limit: 10).isEmpty)
        }
    }
}
