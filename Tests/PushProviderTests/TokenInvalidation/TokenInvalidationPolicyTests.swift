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

/// The effects of responses on tokens.
@Suite(.timeLimit(.patience)) struct TokenInvalidationPolicyTests {
    @Test(arguments: StoreBackend.available)
    func a410EndsTheDevice(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), .refused(410, .unregistered, at: fixture.time.now))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(notification, accepted: 1, rejected: 1)
            #expect(try await fixture.device(1)?.isActive == false)
            #expect(try await fixture.device(2)?.isActive == true)
            let events = try await self.events(fixture)
            #expect(events.map(\.action) == [.deactivated])
            #expect(events.first?.reason == "Unregistered")
            #expect(events.first?.notification == notification.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func devicesRegisteredAfterTheTimestampStay(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let before = fixture.time.now
            fixture.time.advance(by: .seconds(10))
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(410, .unregistered, at: before))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await self.events(fixture).map(\.action) == [.keptAlive])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBadTokenNeedsProofThatTheRestIsRight(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(400, .badDeviceToken))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await fixture.device(1)?.suspicions == 1)
            // Another token was accepted: environment, topic and credential are right.
            try await fixture.register(2...2)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), .refused(400, .badDeviceToken))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.isActive == false)
            #expect(try await fixture.device(2)?.isActive == true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenOfTheOtherEnvironmentIsMoved(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...2, in: .production)
            fixture.sender.script(.numbered(1), in: .production, .refused(400, .badDeviceToken))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let device = try #require(try await fixture.device(1))
            #expect(device.environment == .sandbox)
            #expect(device.isActive)
            #expect(try await fixture.device(2)?.environment == .production)
            #expect(try await self.events(fixture).map(\.action) == [.moved])
            try await fixture.store.expect(notification, .done, accepted: 2)
            let tries = fixture.sender.sent.filter { $0.token == .numbered(1) }
            #expect(tries.map(\.environment) == [.production, .sandbox])
            #expect(Set(tries.map(\.notification.id)).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenThatIsBadEverywhereIsNotMoved(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...1, in: .production)
            fixture.sender.script(.numbered(1), .refused(400, .badDeviceToken), .refused(400, .badDeviceToken))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.environment == .production)
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await fixture.progress(of: notification).progress.rejected == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func massDeathIsWithheldUntilAnOperatorDecides(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 50) { fixture in
            try await fixture.register(1...400)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.always(.refused(410, .unregistered, at: fixture.time.now), in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let paused = try await fixture.progress(of: notification)
            #expect(paused.state == .paused)
            #expect(paused.progress.pauseReason?.contains("dead") == true)
            // Responses before there were enough for an evaluation.
            let active = try await self.active(fixture)
            #expect(active >= 250)
            let health = try await fixture.store.health(app: fixture.app, environment: .sandbox)
            #expect(health.breakerOpenSince != nil)
            let withheld = try await fixture.store.tokenEvents(
                app: fixture.app,
                token: nil,
                action: .withheld,
                before: nil,
                limit: 1000
            )
            #expect(!withheld.isEmpty)
            let settled = try await fixture.store.settleWithheld(
                app: fixture.app,
                environment: .sandbox,
                deactivates: true,
                now: fixture.time.now
            )
            #expect(settled == withheld.count)
            #expect(try await self.active(fixture) == active - settled)
            #expect(
                try await fixture.store.health(app: fixture.app, environment: .sandbox).breakerOpenSince == nil
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func anOpenBreakerSurvivesARestart(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            var health = EnvironmentHealth(epoch: 1)
            health.breakerOpenSince = fixture.time.now
            health.breakerReason = "too many"
            try await fixture.store.setHealth(health, app: fixture.app, environment: .sandbox)
            try await fixture.register(1...1)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), .refused(410, .unregistered, at: fixture.time.now))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await self.events(fixture).map(\.action) == [.withheld])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theOpeningOfTheBreakerHasOneLine(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let log = RecordedLog(level: .error)
            var limits = CircuitBreaker.Limits()
            limits.minimum = 3
            let policy = TokenInvalidationPolicy(store: store, limits: limits, logger: log.logger)
            var evidence = TokenEvidence()
            evidence.add(.init(bad: 3), isEstablished: true)
            let topic = try #require(Topic(Vectors.bundleID))
            for _ in 1...2 {
                let now = Vectors.issuedAt
                _ = await policy.evaluate(evidence, app: app, environment: .sandbox, epoch: 0, topic: topic, now: now)
            }
            let message = "breaker opened: no token is deactivated until an operator closes it"
            #expect(log.lines.count == 1)
            #expect(
                log.lines.first?.hasPrefix("\(message) app=\(Vectors.bundleID) environment=sandbox reason=3 of") == true
            )
        }
    }

    /// A holder of the registration key adds garbage: campaigns to other devices continue, also after a restart.
    @Test(arguments: StoreBackend.available, [false, true])
    func garbageThatWasRegisteredLatelyStopsNoCampaign(backend: StoreBackend, isRestarted: Bool) async throws {
        try await DispatchFixture.run(backend, page: 50) { fixture in
            try await fixture.register(1...10)
            try await fixture.accept([:])
            try await fixture.settle()
            let garbage = 100...3099
            try await fixture.register(garbage)
            try await fixture.register(4000...4010)
            for number in garbage { fixture.sender.script(.numbered(number), .refused(400, .badDeviceToken)) }
            if isRestarted { fixture.invalidation.forget(app: fixture.app) }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 21)
            let health = try await fixture.store.health(app: fixture.app, environment: .sandbox)
            #expect(health.breakerOpenSince == nil)
            // They are not deactivated by the thousand either.
            #expect(try await self.active(fixture) > 2500)
        }
    }

    /// Strangers name any tokens at the endpoint for Matrix homeservers. Clients of other bridges have credentials without an API key.
    @Test(arguments: StoreBackend.available, ["matrix", "binary", "gorush", "fcm", "xmpp", "session"])
    func tokensOfStrangersAreNoEvidence(backend: StoreBackend, name: String) async throws {
        let kind = BridgeKind(name)
        try await DispatchFixture.run(backend, page: 50) { fixture in
            for number in 1...300 { fixture.sender.script(.numbered(number), .refused(400, .badDeviceToken)) }
            try await Self.accept(1...300, of: kind, fixture)
            try await fixture.settle()
            let health = try await fixture.store.health(app: fixture.app, environment: .sandbox)
            #expect((health.breakerOpenSince != nil) == (kind != .matrix))
        }
    }

    /// A push service that calls all tokens dead is believed about none, whether or not they are registered.
    @Test(arguments: StoreBackend.available, [(BridgeKind.binary, true), (.matrix, true), (.matrix, false)])
    func tokensThatWereReachedAreEvidence(backend: StoreBackend, _ origin: (kind: BridgeKind, areReached: Bool))
        async throws
    {
        var limits = CircuitBreaker.Limits()
        limits.minimum = 10
        try await DispatchFixture.run(backend, breaker: limits) { fixture in
            let reached = origin.areReached ? 1...5 : 101...105
            for number in reached { try await Self.accept(number...number, of: origin.kind, fixture) }
            try await fixture.settle()
            try await fixture.register(50...50)
            fixture.time.advance(by: .seconds(10))
            for number in Array(1...5) + [50] {
                fixture.sender.script(.numbered(number), .refused(410, .unregistered, at: fixture.time.now))
            }
            for number in 1...5 { try await Self.accept(number...number, of: origin.kind, fixture) }
            try await fixture.settle()
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(50)?.isActive == origin.areReached)
        }
    }

    /// A stranger has one real token, and makes up any others.
    @Test(arguments: StoreBackend.available)
    func aTokenOfAStrangerCountsOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var limits = CircuitBreaker.Limits()
            limits.minimum = 4
            let policy = TokenInvalidationPolicy(store: store, limits: limits, logger: silentLogger)
            let topic = try #require(Topic(Vectors.bundleID))
            func evaluate(_ evidence: TokenEvidence) async -> TokenInvalidationPolicy.Evaluation {
                let now = Vectors.issuedAt
                return await policy.evaluate(
                    evidence,
                    app: app,
                    environment: .sandbox,
                    epoch: 0,
                    topic: topic,
                    now: now
                )
            }
            var accepted = TokenEvidence()
            accepted.reached = [.numbered(1)]
            for _ in 1...100 { #expect(await evaluate(accepted).isProven) }
            var dead = TokenEvidence()
            dead.add(.init(dead: 3), isEstablished: false)
            #expect(await evaluate(dead).areOthersHeld)
        }
    }

    /// Accepts a notification of a bridge to the tokens of these numbers.
    private static func accept(_ numbers: ClosedRange<Int>, of kind: BridgeKind, _ fixture: DispatchFixture)
        async throws
    {
        let app = try #require(try await fixture.store.app(id: fixture.app))
        let tokens = numbers.map { JSONValue.string(DeviceToken.numbered($0).hex) }
        let request = try NotificationRequest(
            .object(["alert": "Hello", "environment": "sandbox", "to": .object(["tokens": .array(tokens)])]),
            bundleID: app.bundleID,
            now: fixture.time.now
        )
        let origin = AcceptanceRecord(origin: NotificationOrigin(kind, bridge: "one"))
        _ = try await fixture.acceptor.accept(request, app: fixture.app, acceptance: origin)
    }

    /// Devices that were added long ago represent the population.
    @Test(arguments: StoreBackend.available)
    func badTokensOfThePopulationOpenTheBreaker(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 50) { fixture in
            try await fixture.register(1...400)
            fixture.time.advance(by: .seconds(8 * 86_400))
            try await fixture.accept([
                "to": ["tokens": [.string(DeviceToken.numbered(1).hex)]], "environment": "sandbox",
            ])
            try await fixture.settle()
            fixture.sender.always(.refused(400, .badDeviceToken), in: .sandbox)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .paused)
            let health = try await fixture.store.health(app: fixture.app, environment: .sandbox)
            #expect(health.breakerOpenSince != nil)
        }
    }

    private func events(_ fixture: DispatchFixture) async throws -> [TokenEventRecord] {
        try await fixture.store.tokenEvents(app: fixture.app, token: nil, action: nil, before: nil, limit: 100)
    }

    private func active(_ fixture: DispatchFixture) async throws -> Int {
        try await fixture.store.count(app: fixture.app, audience: .everyone, environment: nil)
    }
}
