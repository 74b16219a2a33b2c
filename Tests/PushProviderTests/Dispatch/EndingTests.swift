import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider
@testable import PushStore

/// Recipients whose tries are over: each gets its final state and its event.
@Suite(.timeLimit(.patience)) struct EndingTests {
    @Test(arguments: StoreBackend.available)
    func recipientsWaitingAtCancellationAreReported(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...2) { $0.user = .set("alice") }
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.set(notification, .cancel)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 2)
            let events = try await self.events(fixture)
            #expect(events.map(\.state) == ["accepted", "failed"])
            #expect(events.map(\.user) == ["alice", "alice"])
            #expect(events[1].reason == EndingCause.cancelled.rawValue)
            #expect(events[1].token == DeviceToken.numbered(1).hex)
        }
    }

    @Test(arguments: StoreBackend.available)
    func removedDevicesAreReported(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let device = try #require(try await fixture.device(1)).id
            try await fixture.delete(1)
            try await fixture.settle(after: .seconds(3600))
            let event = try #require(try await self.events(fixture).first)
            #expect(event.state == "skipped")
            #expect(event.token == nil)
            #expect(event.deviceId == device)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    /// At most once: interrupted recipients are not sent to again, and are reported.
    @Test(arguments: StoreBackend.available)
    func interruptedRecipientsAreReported(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...1)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            let now = fixture.time.now
            let claims = try await fixture.store.claim(lane: .bulk, now: now, until: now, limit: 1)
            let claim = try #require(claims.first)
            let recipient = try #require(try await fixture.store.page(claim, limit: 9, needs: []).recipients.first)
            var begun = PageResult(claim)
            begun.step = ShardStep(claim, cursor: claim.end, isLast: true, leaseUntil: nil)
            begun.deliveries = [
                DeliveryResult(recipient: recipient.id, device: recipient.device, state: .sending, attempts: 1, at: now)
            ]
            _ = try await fixture.store.begin(begun, now: now)
            // A failure on the way must not make it one that may be sent.
            for _ in 0..<2 { _ = try await fixture.store.recover(now: now) }
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            let events = try await self.events(fixture)
            #expect(events.map(\.reason) == [EndingCause.interrupted.rawValue])
            #expect(events.map(\.state) == ["unknown"])
            try await fixture.store.expect(notification, .done, failed: 0, unknown: 1)
        }
    }

    @Test(arguments: StoreBackend.available, [["all": true], ["tag": "a"]] as [JSONValue])
    func anUnreadableDeviceDoesNotBlockOthers(backend: StoreBackend, to: JSONValue) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            guard let store = fixture.store as? SQLStore else { return }
            try await self.addWebhook(fixture)
            try await fixture.register(1...5) { $0.tags = ["a"] }
            for id in [2, 4, 5] {
                try await store.database.run(sql: "UPDATE device SET environment = 5 WHERE id = ?", [id])
            }
            let notification = try await fixture.accept(["to": to])
            try await fixture.settle()
            #expect(fixture.sentTokens == [.numbered(1), .numbered(3)])
            try await fixture.store.expect(notification, .done, accepted: 2, failed: 3)
            let reasons = try await self.events(fixture).compactMap(\.reason)
            #expect(reasons == Array(repeating: EndingCause.unreadable.rawValue, count: 3))
            #expect(try await store.checkIntegrity().count == 3)
            try await store.database.run(sql: "DELETE FROM device WHERE environment = 5")
        }
    }

    /// An immediate notification has one more try, even if the first one never left.
    @Test(arguments: StoreBackend.available)
    func immediateNotificationsAreTriedTwiceAtMost(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...5)
            for number in 1...5 {
                for _ in 0..<9 { fixture.sender.script(.numbered(number), .notSent(.init("no connection"))) }
            }
            let notification = try await fixture.accept(["expiration": 0])
            let dispatcher = fixture.dispatcher
            for _ in 0..<4 {
                try await fixture.settle(dispatcher)
                fixture.time.advance(by: .seconds(61))
            }
            #expect(try await fixture.progress(of: notification).state == .done)
            #expect(fixture.sender.sent.count == 10)
        }
    }

    /// A row that cannot be read ends in a pause, not in a try each second.
    @Test(arguments: StoreBackend.available)
    func anAppThatCannotBeReadPausesItsRetries(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            guard let store = fixture.store as? SQLStore else { return }
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            try await fixture.settle(dispatcher)
            try await store.database.run(sql: "UPDATE app SET bundleID = ''")
            fixture.time.advance(by: .seconds(61))
            while try await dispatcher.step() {}
            #expect(try await fixture.progress(of: notification).state == .paused)
            #expect(try await store.apps().isEmpty)
            #expect(try await store.checkIntegrity().count == 1)
            try await store.database.run(sql: "UPDATE app SET bundleID = 'a'")
        }
    }

    /// An environment is paused, and the other one is still sent to.
    @Test(arguments: StoreBackend.available)
    func anUnreadableCredentialHoldsItsRecipients(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            guard let store = fixture.store as? SQLStore else { return }
            try await fixture.register(1...1)
            try await fixture.register(2...2, in: .production)
            try await store.database.run(sql: "UPDATE credential SET sealed = x'00' WHERE environment = 1")
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let progress = try await fixture.progress(of: notification).progress
            #expect((progress.accepted, progress.failed, progress.retrying) == (1, 0, 1))
            #expect(try await store.environmentPauses().map(\.fault.cause) == [.credentialUnusable])
            #expect(try await store.checkIntegrity().count == 1)
            _ = try await store.removeCredential(app: fixture.app, environment: .sandbox)
        }
    }

    /// The database can be locked for longer than a lease.
    @Test(arguments: StoreBackend.available)
    func aLeaseThatRunsOutRepeatsNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2) { $0.user = .set("alice") }
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let dispatcher = fixture.dispatcher
            let (time, store) = (fixture.time, fixture.store)
            fixture.sender.onSend { _ in
                // While this is on its way, its lease runs out, and others look for work.
                time.advance(by: .seconds(400))
                for lane in NotificationRecord.Lane.allCases {
                    if let claims = try? await dispatcher.claimShards(lane, limit: 9) { #expect(claims.isEmpty) }
                    if let due = try? await dispatcher.claimRetries(lane) { #expect(due.isEmpty) }
                }
            }
            let notification = try await fixture.accept(["to": ["user": "alice"]])
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 2)
            time.advance(by: .seconds(61))
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 3)
            #expect(try await store.notification(notification.id)?.state == .done)
        }
    }

    private struct Event: Decodable {
        var state: String
        var reason: String?
        var user: String?
        var token: String?
        var deviceId: Int64?
    }

    private func addWebhook(_ fixture: DispatchFixture) async throws {
        try await fixture.store.addWebhook(
            WebhookRecord(
                id: UUID(),
                app: fixture.app,
                url: "https://example.com/hook",
                secret: "secret",
                events: [.delivery],
                isActive: true,
                createdAt: fixture.time.now,
                cursor: 0
            )
        )
    }

    /// In the order of their state.
    private func events(_ fixture: DispatchFixture) async throws -> [Event] {
        try await fixture.store.eventBlocks(app: fixture.app, kinds: [.delivery], after: 0, limit: 100)
            .flatMap { try JSONDecoder().decode([Event].self, from: Data("[".utf8) + $0.events + Data("]".utf8)) }
            .sorted { $0.state < $1.state }
    }
}
