import Foundation
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Broadcasts through the dispatcher, with a scripted push service and a manual clock.
@Suite(.timeLimit(.patience)) struct BroadcastDispatchTests {
    private static func channel(_ storage: ChannelStorage, _ app: Int64) throws -> ChannelRecord {
        let id = try #require(ChannelID("dGVzdC0x"))
        return ChannelRecord(id: id, app: app, environment: .sandbox, storage: storage, createdAt: Vectors.issuedAt)
    }

    /// Accepts a broadcast as the API would.
    private func accept(
        _ fixture: DispatchFixture,
        storage: ChannelStorage = .newest,
        _ members: [String: JSONValue] = [:]
    ) async throws -> NotificationRecord {
        let app = try #require(try await fixture.store.app(id: fixture.app))
        let update: JSONValue = ["event": "update", "contentState": ["home": 1]]
        let all = ["channel": "dGVzdC0x", "liveActivity": update].merging(members) { $1 }
        let request = try BroadcastRequest(JSONFields(.object(all), known: BroadcastRequest.object.known))
            .notification(to: try Self.channel(storage, fixture.app), of: app.bundleID, now: fixture.time.now)
        return try await fixture.acceptor.accept(request, app: fixture.app).notification
    }

    private static func rejected(_ status: Int, _ reason: Reason, after: Duration? = nil) -> Outcome {
        .rejected(Rejection(status: status, reasonText: reason.rawValue, retryAfter: after))
    }

    @Test(arguments: StoreBackend.available)
    func aBroadcastIsOneRequestAndOneRow(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            // Devices are not asked for, and not sent to.
            try await fixture.register(1...3)
            let notification = try await self.accept(fixture)
            #expect(notification.progress.recipients == 1 && notification.lane == .urgent)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
            let sent = try #require(fixture.sender.sent.first)
            #expect(fixture.sender.sent.count == 1 && sent.lane == .urgent && sent.environment == .sandbox)
            let fields = Dictionary(uniqueKeysWithValues: sent.fields.map { ($0.name, $0.value) })
            #expect(fields["apns-channel-id"] == "dGVzdC0x")
            #expect(fields[":path"] == "/4/broadcasts/apps/\(Vectors.bundleID)")
            let id = DeliveryID(notification: notification.id).text(recipient: -1)
            #expect(fields["apns-request-id"] == id && sent.notification.id == id)
            let end = fixture.time.now.advanced(by: .seconds(8 * 3600)).seconds
            #expect(sent.notification.expiration == .at(seconds: end))
            let deliveries = try await fixture.deliveries(of: notification)
            #expect(deliveries.map(\.state) == [.accepted] && deliveries.map(\.token) == [nil])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBusyServiceIsTriedAgainUntilTheExpiry(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let token = DeviceToken(standingFor: try Self.channel(.none, fixture.app).id)
            fixture.sender.script(
                token,
                Self.rejected(429, .tooManyRequests, after: .seconds(30)),
                Self.rejected(503, .serviceUnavailable)
            )
            let notification = try await self.accept(fixture, storage: .none, ["expiresIn": "1h"])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.retrying == 1)
            fixture.time.advance(by: .seconds(29))
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
            for _ in 0..<10 where fixture.sender.sent.count < 3 {
                fixture.time.advance(by: .seconds(60))
                try await fixture.settle()
            }
            try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
            // The channel stores nothing: the time is only that of the tries.
            #expect(fixture.sender.sent.map(\.notification.expiration) == [.immediate, .immediate, .immediate])
            #expect(Set(fixture.sender.sent.map(\.notification.id)).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func afterTheExpiryThereIsNoTry(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            fixture.sender.always(Self.rejected(503, .serviceUnavailable), in: .sandbox)
            let notification = try await self.accept(fixture, ["expiresIn": 60])
            try await fixture.settle()
            for _ in 0..<10 {
                fixture.time.advance(by: .seconds(30))
                try await fixture.settle()
            }
            try await fixture.store.expect(notification, .done, failed: 1, recipients: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aChannelThatIsGoneIsRejectedAndChangesNoToken(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...3)
            fixture.sender.always(Self.rejected(400, .channelNotRegistered), in: .sandbox)
            let notification = try await self.accept(fixture)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, rejected: 1, recipients: 1)
            let delivery = try #require(try await fixture.deliveries(of: notification).first)
            #expect(delivery.reason == Reason.channelNotRegistered.rawValue)
            let active = try await fixture.store.count(
                app: fixture.app,
                audience: .everyone,
                environment: nil,
                kind: .alert
            )
            #expect(active == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aServiceWithoutBroadcastsPausesNoPushes(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let token = DeviceToken(standingFor: try Self.channel(.newest, fixture.app).id)
            for _ in 0..<8 { fixture.sender.script(token, Self.rejected(404, .badPath)) }
            let notification = try await self.accept(fixture)
            try await fixture.settle()
            for _ in 0..<40 where try await fixture.progress(of: notification).state != .done {
                fixture.time.advance(by: .seconds(900))
                try await fixture.settle()
            }
            try await fixture.store.expect(notification, .done, failed: 1, recipients: 1)
            #expect(try await fixture.faults.pauses().isEmpty)
            let push = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(push, .done, accepted: 1, recipients: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRestartSendsWhatWaits(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let token = DeviceToken(standingFor: try Self.channel(.newest, fixture.app).id)
            fixture.sender.script(token, .notSent(.init("no connection")))
            let notification = try await self.accept(fixture)
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.retrying == 1)
            _ = try await fixture.store.recover(now: fixture.time.now)
            fixture.time.advance(by: .seconds(60))
            // Another dispatcher, as after a start.
            try await fixture.settle(fixture.dispatcher)
            try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aFailedBroadcastIsSentAgainToItsChannel(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            fixture.sender.always(Self.rejected(400, .featureNotEnabled), in: .sandbox)
            let notification = try await self.accept(fixture)
            try await fixture.settle()
            let failed = try await fixture.progress(of: notification)
            let deliveries = try await fixture.deliveries(of: notification)
            let fields = try JSONFields(.object(["expiresIn": 600]), known: ResendRequest.object.known)
            let resend = try ResendRequest(fields, of: notification.id)
            let request = try resend.request(failed, deliveries, now: fixture.time.now)
            #expect(request.audience == notification.audience && request.environment == .sandbox)
            #expect(throws: RequestError.self) { try resend.request(failed, [], now: fixture.time.now) }
        }
    }
}
