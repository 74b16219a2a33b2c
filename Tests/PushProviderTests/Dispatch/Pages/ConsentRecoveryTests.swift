import Crypto
import Foundation
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Recipients that are skipped after a lost response, after a crash, or once their environment is sent to again. It is
/// 22:13:20 UTC.
@Suite(.timeLimit(.patience)) struct ConsentRecoveryTests {
    private static let night = QuietHours(stored: "22:00-07:00")

    /// Changes of a device for which a retry is skipped.
    private static func change(_ cause: SkipReason, _ registration: inout DeviceRegistration) {
        switch cause {
        case .optedOut: registration.preferences = .set(Preferences(optOuts: ["marketing"]))
        case .alertsNotAllowed: registration.capabilities = [.badge]
        case .noEncryptionKey: registration.encryptionKey = .clear
        case .quietHours: registration.preferences = .set(Preferences(quietHours: Self.night))
        case .capReached: break
        }
    }

    /// A push that may have arrived is not called skipped.
    @Test(
        arguments: StoreBackend.available,
        [SkipReason.optedOut, .alertsNotAllowed, .noEncryptionKey, .quietHours]
    )
    func aSkippedRetryWhoseResponseWasLostIsUnknown(backend: StoreBackend, cause: SkipReason) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let key = Array(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation)
            try await fixture.register(1...2) {
                $0.capabilities = [.alert]
                $0.encryptionKey = .set(InstallationPublicKey(id: "k", bytes: key))
            }
            fixture.sender.script(.numbered(1), .unknown(.init("connection lost")))
            fixture.sender.script(.numbered(2), .notSent(.init("no connection")))
            let notification = try await fixture.accept(["consentCategory": "marketing", "encrypted": true])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.retrying == 2)
            try await fixture.register(1...2) { Self.change(cause, &$0) }
            try await fixture.settle(after: .seconds(300))
            try await fixture.store.expect(notification, .done, skipped: 1, unknown: 1)
            let deliveries = try await fixture.deliveries(of: notification)
            #expect(Set(deliveries.map(\.reason)) == [cause.text(category: "marketing")])
            #expect(deliveries.first { $0.token == .numbered(1) }?.state == .unknown)
        }
    }

    private func addWebhook(_ fixture: DispatchFixture) async throws {
        var webhook = WebhookRecord.fixture(port: 1)
        webhook.app = fixture.app
        webhook.events = [.delivery]
        try await fixture.store.addWebhook(webhook)
    }

    /// Returns the states of the events for webhooks.
    private func states(_ fixture: DispatchFixture) async throws -> [String] {
        let store = fixture.store
        let blocks = try await store.eventBlocks(app: fixture.app, kinds: [.delivery], after: 0, limit: 100)
        let text = blocks.map { String(decoding: $0.events, as: UTF8.self) }.joined(separator: ",")
        let events = try JSONValue(parsing: Data("[\(text)]".utf8)).elements
        return events.compactMap { $0["state"].stringValue }.sorted()
    }

    /// The process ends while the page is sent: that nothing went to who opted out is known.
    @Test(arguments: StoreBackend.available)
    func atMostOnceKnowsTheSkippedAfterACrash(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...1) { $0.preferences = .set(Preferences(optOuts: ["marketing"])) }
            try await fixture.register(2...2)
            let notification = try await fixture.accept(["guarantee": "atMostOnce", "consentCategory": "marketing"])
            fixture.whileSending {
                let deliveries = try await fixture.deliveries(of: notification)
                #expect(deliveries.map(\.state) == [.skipped, .sending])
                #expect(try await self.states(fixture) == ["skipped"])
                #expect(try await fixture.store.recover(now: fixture.time.steady) == 1)
            }
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, skipped: 1, unknown: 1)
            #expect(try await self.states(fixture) == ["skipped", "unknown"])
        }
    }

    /// The process ends after the write that precedes the page, whose recipients are all skipped.
    @Test(arguments: StoreBackend.available)
    func atMostOnceKnowsTheSkippedOfAPageThatWasBegun(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            let claim = try await fixture.store.claimed(now: fixture.time.now)
            let page = try await fixture.store.page(claim, limit: 2, needs: [])
            func result(_ recipient: Recipient, _ state: DeliveryRecord.State) -> DeliveryResult {
                DeliveryResult(
                    recipient: recipient.id,
                    device: recipient.device,
                    state: state,
                    reason: state == .skipped ? "quiet hours of the user" : nil,
                    attempts: 0,
                    at: fixture.time.now
                )
            }
            let (first, second) = (page.recipients[0], page.recipients[1])
            var begun = PageResult(claim)
            begun.step = ShardStep(claim, cursor: page.cursor, isLast: true, leaseUntil: nil)
            begun.deliveries = [result(first, .sending)]
            // The first one was begun by another page: its state is not written over.
            begun.endings = [first, second].map { ReportedDelivery(result($0, .skipped), event: nil) }
            let started = try await fixture.store.begin(begun, now: fixture.time.now)
            #expect(started.started == [first.id, second.id])
            #expect(try await fixture.deliveries(of: notification).map(\.state) == [.sending, .skipped])
            #expect(try await fixture.store.recover(now: fixture.time.now) == 1)
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            try await fixture.store.expect(notification, .done, skipped: 1, unknown: 1)
            let counts = try await fixture.store.skipCounts(of: notification.id)
            #expect(counts == [SkipCount(reason: "quiet hours of the user", count: 1)])
        }
    }

    /// Quiet hours are those of the time at which a device is sent to.
    @Test(arguments: StoreBackend.available)
    func devicesOfAPausedEnvironmentAreNotInQuietHours(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            fixture.sender.always(.refused(403, .invalidProviderToken), in: .sandbox)
            try await fixture.register(1...3)
            let first = try await fixture.accept(["environment": "sandbox"])
            try await fixture.settle()
            #expect(try await fixture.store.environmentPauses().count == 1)
            try await fixture.set(first, .cancel)
            for environment in PushEnvironment.allCases {
                let number = environment == .sandbox ? 4 : 5
                try await fixture.register(number...number, in: environment) {
                    $0.preferences = .set(Preferences(quietHours: Self.night))
                }
            }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let progress = try await fixture.progress(of: notification).progress
            #expect((progress.skipped, progress.retrying) == (1, 4))
            fixture.sender.always(nil, in: .sandbox)
            fixture.time.advance(by: .seconds(10 * 3600))
            #expect(try await fixture.monitor.step() == true)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 4, skipped: 1)
            let skipped = try await fixture.deliveries(of: notification).filter { $0.state == .skipped }
            #expect(skipped.map(\.token) == [.numbered(5)])
        }
    }

    /// A category that looks the same is another one.
    @Test(arguments: StoreBackend.available)
    func categoriesAreComparedByTheirBytes(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
            try await fixture.register(1...1) {
                $0.preferences = .set(Preferences(optOuts: [BytewiseString(composed)]))
            }
            try await fixture.register(2...2) {
                $0.preferences = .set(Preferences(optOuts: [BytewiseString(composed), BytewiseString(decomposed)]))
            }
            let notification = try await fixture.accept(["consentCategory": .string(decomposed)])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1, skipped: 1)
            #expect(fixture.sentTokens == [.numbered(1)])
        }
    }
}
