import Foundation
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Campaigns and single pushes to a push service that rejects the credential, the topic or the connection.
@Suite(.timeLimit(.patience)) struct ConfigurationFaultTests {
    private static let unknownKey = Outcome.refused(403, .invalidProviderToken)
    private static let refused = Outcome.notSent(
        .init("connection refused", fault: .init(.refused, host: "127.0.0.1", port: 9))
    )
    private static let untrusted = Outcome.notSent(
        .init("TLS: not trusted", fault: .init(.untrustedServer, host: "127.0.0.1", port: 9))
    )

    @Test(arguments: StoreBackend.available)
    func aRejectedCredentialPausesAndTheNextOneDeliversAll(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 50) { fixture in
            try await fixture.register(1...500)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 50)
            let pause = try #require(try await fixture.store.environmentPauses().first)
            #expect(pause.target == fixture.target)
            #expect(pause.fault.cause == .credentialRejected)
            #expect(pause.fault.detail == "InvalidProviderToken")
            #expect(pause.fault.host == "api.sandbox.push.apple.com")
            var progress = try await fixture.progress(of: notification).progress
            #expect((progress.rejected, progress.failed, progress.retrying) == (0, 0, 50))
            // Time alone changes nothing while the credential is rejected.
            try await fixture.settle(after: .seconds(3600), times: 3)
            #expect(fixture.sender.sent.count == 50)
            fixture.sender.always(nil, in: .sandbox)
            try await fixture.replaceCredential()
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 500, recipients: 500)
            progress = try await fixture.progress(of: notification).progress
            #expect((progress.rejected, progress.failed) == (0, 0))
            #expect(Set(fixture.sentTokens).count == 500)
            #expect(fixture.sender.sent.count == 550)
            // A try that the fault made in vain does not count.
            #expect(try await fixture.deliveries(of: notification).allSatisfy { $0.attempts == 1 })
        }
    }

    @Test(arguments: StoreBackend.available)
    func aProbeEndsThePause(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            fixture.time.advance(by: .seconds(61))
            #expect(try await fixture.monitor.step() == true)
            #expect(try await fixture.store.environmentPauses().count == 1)
            fixture.sender.always(nil, in: .sandbox)
            fixture.time.advance(by: .seconds(61))
            #expect(try await fixture.monitor.step() == true)
            #expect(try await fixture.store.environmentPauses().isEmpty)
            #expect(fixture.sender.tests == 2)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPauseOutlivesTheProcess(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let next = fixture.restarted
            _ = try await next.store.recover(now: next.time.steady)
            try await next.settle()
            #expect(fixture.sender.sent.count == 10)
            // It is probed at once after the start.
            fixture.sender.always(nil, in: .sandbox)
            #expect(try await next.monitor.step() == true)
            try await next.settle()
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aSinglePushIsHeldAndSentAfterThePause(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let token = DeviceToken.numbered(1).hex
            let first = try await fixture.accept(["to": ["tokens": [.string(token)]], "environment": "sandbox"])
            try await fixture.settle(after: .seconds(10), times: 5)
            #expect(try await fixture.store.environmentPauses().count == 1)
            let sent = fixture.sender.sent.count
            #expect(sent == 3)
            let second = try await fixture.accept(["to": ["tokens": [.string(token)]], "environment": "sandbox"])
            try await fixture.settle(after: .seconds(10), times: 5)
            #expect(fixture.sender.sent.count == sent)
            fixture.sender.always(nil, in: .sandbox)
            try await fixture.replaceCredential()
            try await fixture.settle()
            for notification in [first, second] {
                try await fixture.store.expect(notification, .done, accepted: 1, recipients: 1)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func theOtherEnvironmentGoesOn(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...30)
            try await fixture.register(31...60, in: .production)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let progress = try await fixture.progress(of: notification).progress
            #expect((progress.accepted, progress.rejected, progress.retrying) == (30, 0, 30))
            fixture.sender.always(nil, in: .sandbox)
            try await fixture.replaceCredential()
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 60, recipients: 60)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatExpiresMeanwhileNamesTheCause(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let expires = fixture.time.now.advanced(by: .seconds(600)).seconds
            let notification = try await fixture.accept(["expiration": .integer(expires)])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.failed == 0)
            try await fixture.settle(after: .seconds(601), times: 2)
            let deliveries = try await fixture.deliveries(of: notification)
            #expect(deliveries.count == 25)
            #expect(deliveries.allSatisfy { $0.state == .failed })
            #expect(deliveries.allSatisfy { $0.reason?.hasPrefix("expired before it could be sent") == true })
            #expect(deliveries.allSatisfy { $0.reason?.contains("InvalidProviderToken") == true })
            #expect(fixture.sender.sent.count == 10)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func atMostOnceIsHeldTooAsARejectedPushDidNotArrive(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.failed == 0)
            fixture.sender.always(nil, in: .sandbox)
            try await fixture.replaceCredential()
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectionOfOneAmongAcceptedPushesEndsWithItsTries(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...20)
            for _ in 0..<20 { fixture.sender.script(.numbered(1), Self.unknownKey) }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            for _ in 0..<20 {
                // Another push is accepted between two tries.
                _ = try await fixture.accept([
                    "to": ["tokens": [.string(DeviceToken.numbered(2).hex)]], "environment": "sandbox",
                ])
                try await fixture.settle(after: .seconds(15 * 60))
            }
            #expect(try await fixture.store.environmentPauses().isEmpty)
            let delivery = try await fixture.deliveries(of: notification).first { $0.state != .accepted }
            #expect(delivery?.state == .failed)
            #expect(delivery?.attempts == 8)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTopicOfOneNotificationPausesOnlyThat(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...20)
            fixture.sender.always(.refused(400, .topicDisallowed), in: .sandbox)
            let wrong = try await fixture.accept(["topic": "com.example.Other"])
            try await fixture.settle()
            #expect(try await fixture.progress(of: wrong).state == .paused)
            #expect(try await fixture.progress(of: wrong).progress.pauseReason?.contains("TopicDisallowed") == true)
            #expect(try await fixture.store.environmentPauses().isEmpty)
            let right = try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.store.environmentPauses().first?.fault.cause == .topicDisallowed)
            #expect(try await fixture.progress(of: right).progress.rejected == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anUntrustedServerPauses(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.untrusted, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.settle(after: .seconds(61), times: 2)
            let pause = try #require(try await fixture.store.environmentPauses().first)
            #expect(pause.fault.cause == .untrustedServer)
            #expect((pause.fault.host, pause.fault.port) == ("127.0.0.1", 9))
            fixture.sender.always(nil, in: .sandbox)
            fixture.time.advance(by: .seconds(61))
            try await fixture.monitor.step()
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
        }
    }

    @Test(arguments: StoreBackend.available)
    func connectionsThatFailForAWhilePauseAndOneThatOpensAsksForAProbe(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...5)
            fixture.sender.always(Self.refused, in: .sandbox)
            let notification = try await fixture.accept([:])
            for _ in 0..<5 { try await fixture.settle(after: .seconds(61)) }
            let pause = try #require(try await fixture.store.environmentPauses().first)
            #expect(pause.fault.cause == .refused)
            #expect(try await fixture.progress(of: notification).progress.failed == 0)
            fixture.sender.always(nil, in: .sandbox)
            fixture.sender.connection(nil, app: fixture.app, in: .sandbox)
            #expect(try await fixture.monitor.step() == true)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 5, recipients: 5)
        }
    }

    /// The page was sent with the old credential, and its results come after the new one was set.
    @Test(arguments: StoreBackend.available)
    func aPageOfAReplacedCredentialPausesNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...10)
            for number in 1...10 { fixture.sender.script(.numbered(number), Self.unknownKey) }
            fixture.whileSending { try await fixture.replaceCredential() }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.store.environmentPauses().isEmpty)
            try await fixture.settle(after: .seconds(10))
            try await fixture.store.expect(notification, .done, accepted: 10, recipients: 10)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCancelledNotificationOfAPausedEnvironmentEnds(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.set(notification, .cancel)
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.retrying == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPausedEnvironmentIsClaimedOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...100)
            fixture.sender.always(.refused(503, .serviceUnavailable), in: .sandbox)
            _ = try await fixture.accept([:])
            for _ in 0..<10 { try await fixture.settle() }
            fixture.sender.always(Self.unknownKey, in: .sandbox)
            // All retries that became due before are held once, then nothing is left to claim.
            try await fixture.settle(after: .seconds(900))
            #expect(try await fixture.dispatcher.step() == false)
            let due = try await fixture.store.nextDue(
                lane: .bulk,
                after: Timestamp(milliseconds: .min),
                at: fixture.time.reading
            )
            #expect(due.map { $0 > fixture.time.steady.advanced(by: .seconds(3600)) } ?? true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeletedCredentialHoldsWhatIsLeft(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 10) { fixture in
            try await fixture.register(1...25)
            let notification = try await fixture.accept([:])
            _ = try await fixture.dispatcher.step()
            _ = try await fixture.store.removeCredential(app: fixture.app, environment: .sandbox)
            fixture.directory.forget(app: fixture.app)
            try await fixture.settle()
            #expect(try await fixture.store.environmentPauses().first?.fault.cause == .credentialMissing)
            try await fixture.replaceCredential()
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 25, recipients: 25)
        }
    }
}

extension DispatchFixture {
    fileprivate var target: AppEnvironment { AppEnvironment(app: self.app, environment: .sandbox) }

    var monitor: ConfigurationFaultMonitor {
        let tester = CredentialTester(
            store: self.store,
            directory: self.directory,
            source: self.sender,
            time: self.time
        )
        return ConfigurationFaultMonitor(faults: self.faults, tester: tester, logger: silentLogger)
    }

    /// Sets another credential, as the API does.
    fileprivate func replaceCredential() async throws {
        let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: "NEWKEY1234", privateKey: Vectors.privateKey)
        try await self.store.setCredential(key, app: self.app, environment: .sandbox)
        self.directory.forget(app: self.app)
        try await self.faults.credentialChanged(self.target)
    }

    /// The same store after a start of the process.
    fileprivate var restarted: DispatchFixture {
        let directory = SenderDirectory(store: self.store, source: self.sender, logger: silentLogger)
        return DispatchFixture(
            store: self.store,
            app: self.app,
            sender: self.sender,
            time: self.time,
            wakes: self.wakes,
            directory: directory,
            invalidation: TokenInvalidationPolicy(store: self.store, logger: silentLogger),
            faults: ConfigurationFaultTracker(
                store: self.store,
                directory: directory,
                source: self.sender,
                wakes: self.wakes,
                time: self.time,
                logger: silentLogger
            ),
            acceptor: self.acceptor,
            limits: self.limits
        )
    }
}
