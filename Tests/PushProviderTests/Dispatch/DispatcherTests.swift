import Foundation
import NIOCore
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The dispatcher step by step, with a scripted push service and a manual clock.
@Suite(.timeLimit(.patience)) struct DispatcherTests {
    @Test(arguments: StoreBackend.available)
    func aBroadcastReachesEveryDeviceOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(fixture.sentTokens.sorted { $0.hex < $1.hex } == (1...25).map { .numbered($0) })
            #expect(Set(fixture.sender.sent.map(\.lane)) == [.bulk])
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
            let ids = DeliveryID(notification: notification.id)
            let deliveries = try await fixture.deliveries(of: notification)
            #expect(
                Set(deliveries.map { ids.text(recipient: $0.recipient) })
                    == Set(fixture.sender.sent.map(\.notification.id))
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCrashCostsAtMostThePagesInFlightAgainWithTheSameIDs(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            let notification = try await fixture.accept([:])
            _ = try await fixture.dispatcher.step()
            // Claimed and sent, but the process ends before it is written.
            let claim = try await fixture.store.claimed(now: fixture.time.now)
            let lost = try await fixture.store.page(claim, limit: 10, needs: [])
            let service = fixture.sender.sender(
                for: .token(try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)),
                app: 1,
                environment: .sandbox,
                lane: .bulk
            )
            for recipient in lost.recipients {
                let id = DeliveryID(notification: notification.id).text(recipient: recipient.id)
                let topic = try #require(Topic(Vectors.bundleID))
                _ = await service.send([Push(PushNotification(id: id, topic: topic, payload: ""), to: recipient.token)])
            }
            _ = try await fixture.store.recover(now: fixture.time.now)
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.accepted == 25)
            let sends = Dictionary(grouping: fixture.sender.sent, by: \.token)
            #expect(sends.count == 25)
            #expect(sends.values.filter { $0.count == 2 }.count == 10)
            #expect(sends.values.allSatisfy { Set($0.map(\.notification.id)).count == 1 })
        }
    }

    @Test(arguments: StoreBackend.available)
    func a503IsTriedAgainWhenItsTimeHasCome(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
            #expect(try await fixture.progress(of: notification).progress.retrying == 1)
            try await fixture.settle(after: .seconds(61))
            #expect(Set(fixture.sender.sent.map(\.notification.id)).count == 1)
            #expect(fixture.sender.sent.count == 2)
            #expect(try await fixture.progress(of: notification).state == .done)
            #expect(try await fixture.deliveries(of: notification).first?.attempts == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func pushesThatNeverLeftAreTriedUntilTheyExpire(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.always(.notSent(.init("no connection")), in: .sandbox)
            let notification = try await fixture.accept([
                "expiration": .integer(fixture.time.now.seconds + 3600)
            ])
            for _ in 0..<40 {
                try await fixture.settle()
                fixture.time.advance(by: .seconds(61))
            }
            #expect(fixture.sender.sent.count > 30)
            #expect(try await fixture.progress(of: notification).state == .sending)
            try await fixture.settle(after: .seconds(61), times: 40)
            #expect(try await fixture.progress(of: notification).progress.failed == 1)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func expiredNotificationsAreNotSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let expiration = fixture.time.now.seconds + 3600
            let notification = try await fixture.accept(["expiration": .integer(expiration)])
            try await fixture.settle(after: .seconds(7200))
            #expect(fixture.sender.sent.isEmpty)
            let delivery = try await fixture.deliveries(of: notification).first
            #expect(delivery?.state == .failed)
            #expect(delivery?.reason == "expired before it could be sent")
        }
    }

    @Test(arguments: StoreBackend.available)
    func immediateNotificationsHaveOneMoreTryAfterWaiting(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept(["expiration": 0])
            // Its turn comes late, behind others.
            try await fixture.settle(after: .seconds(7200))
            try await fixture.settle(after: .seconds(30))
            #expect(fixture.sentTokens.count { $0 == .numbered(1) } == 2)
            #expect(fixture.sentTokens.count { $0 == .numbered(2) } == 1)
            try await fixture.store.expect(notification, .done, failed: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func withoutACredentialTheRecipientFails(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1, in: .production)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(fixture.sender.sent.isEmpty)
            let delivery = try await fixture.deliveries(of: notification).first
            #expect(delivery?.state == .failed)
            #expect(delivery?.reason == "no usable credential for production")
        }
    }

    @Test(arguments: StoreBackend.available)
    func namedTokensAndUsersAreUrgent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2) { $0.user = .set("alice") }
            let stranger: JSONValue = .string(DeviceToken.numbered(9).hex)
            let named = try await fixture.accept(["to": ["tokens": [stranger]], "environment": "sandbox"])
            let user = try await fixture.accept(["to": ["user": "alice"]])
            try await fixture.settle()
            #expect(fixture.sender.sent.map(\.lane) == [.urgent, .urgent, .urgent])
            #expect(try await fixture.progress(of: named).progress.accepted == 1)
            #expect(try await fixture.progress(of: user).progress.accepted == 2)
            let id = try #require(fixture.sender.sent.first?.notification.id)
            let (prefix, recipient) = try #require(DeliveryID.parse(id))
            #expect(try await fixture.store.delivery(of: prefix, recipient: recipient)?.state == .accepted)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anEmptyAudienceIsDoneAtOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let notification = try await fixture.accept(["to": ["tag": "nobody"]])
            #expect(notification.state == .done)
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theServiceWorksOnASignalAndEndsOnShutdown(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...9)
            let notification = try await fixture.accept([:])
            try await withServices([fixture.dispatcher]) {
                while try await fixture.store.notification(notification.id)?.state != .done {
                    try Task.checkCancellation()
                }
            }
            #expect(fixture.sender.sent.count == 9)
        }
    }
}
