import Foundation
import GRDB
import PushProtocol
import PushTesting
import Testing

@testable import PushProvider
@testable import PushStore

/// Recipients whose tries are over: each gets its final state, and the webhooks are told.
@Suite(.timeLimit(.minutes(5))) struct EndingTests {
    @Test(arguments: StoreBackend.available)
    func whoWaitsWhenItIsCancelledIsToldOf(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...2) { $0.user = .set("alice") }
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            _ = try await fixture.store.setState(.cancel, of: notification.id, now: fixture.time.now)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 2)
            let events = try await self.events(fixture)
            #expect(events.map(\.state) == ["accepted", "failed"])
            #expect(events.map(\.user) == ["alice", "alice"])
            #expect(events[1].reason == EndedRetry.Cause.cancelled.rawValue)
            #expect(events[1].token == DeviceToken.numbered(1).hex)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whoseDeviceIsGoneIsToldOf(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let device = try #require(try await fixture.device(1)).id
            _ = try await fixture.store.deleteDevices(
                app: fixture.app,
                token: .numbered(1),
                environment: nil,
                now: fixture.time.now
            )
            fixture.time.advance(by: .seconds(3600))
            try await fixture.settle()
            let event = try #require(try await self.events(fixture).first)
            #expect(event.state == "failed")
            #expect(event.token == nil)
            #expect(event.deviceId == device)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    /// At most once: what had begun is not sent again, and that is told.
    @Test(arguments: StoreBackend.available)
    func whatWasInterruptedIsToldOf(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await self.addWebhook(fixture)
            try await fixture.register(1...1)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            let now = fixture.time.now
            let claims = try await fixture.store.claim(lane: .bulk, now: now, until: now, limit: 1)
            let claim = try #require(claims.first)
            let recipient = try #require(try await fixture.store.page(claim, limit: 9, needs: []).recipients.first)
            var begun = PageResult(notificationNumber: claim.notificationNumber)
            begun.step = ShardStep(shard: claim.shard, cursor: claim.end, isLast: true, leaseUntil: nil)
            begun.deliveries = [
                DeliveryResult(recipient: recipient.id, device: recipient.device, state: .sending, attempts: 1, at: now)
            ]
            _ = try await fixture.store.begin(begun, now: now)
            // A failure on the way must not make it one that may be sent.
            for _ in 0..<2 { _ = try await fixture.store.recover(now: now) }
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            let events = try await self.events(fixture)
            #expect(events.map(\.reason) == [EndedRetry.Cause.interrupted.rawValue])
            let end = try await fixture.progress(of: notification)
            #expect(end.state == .done)
            #expect(end.progress.failed == 1)
        }
    }

    /// The rest is worth an answer from whoever can mend it, not a try each second.
    @Test(arguments: StoreBackend.available, [["all": true], ["user": "alice"]] as [JSONValue])
    func aDeviceThatCannotBeReadPausesItsNotification(backend: StoreBackend, to: JSONValue) async throws {
        try await DispatchFixture.run(backend) { fixture in
            guard let store = fixture.store as? SQLiteStore else { return }
            try await fixture.register(1...1) { $0.user = .set("alice") }
            try await store.database.write { try $0.execute(sql: "UPDATE device SET token = x''") }
            let notification = try await fixture.accept(["to": to])
            try await fixture.settle()
            let paused = try await fixture.progress(of: notification)
            #expect(paused.state == .paused)
            #expect(paused.progress.pauseReason?.contains("device") == true)
            #expect(try await store.checkIntegrity() == ["device 1: what is stored of it cannot be read"])
            try await store.database.write { try $0.execute(sql: "DELETE FROM device") }
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
