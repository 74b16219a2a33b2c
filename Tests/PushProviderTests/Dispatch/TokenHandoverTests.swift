import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Tokens that go from one installation to another while a notification is being sent: what a token has had is known by the
/// token, by whatever clock.
@Suite(.timeLimit(.patience)) struct TokenHandoverTests {
    /// A registration: the token's number and the installation's name.
    private typealias Move = (token: Int, installation: String)

    private func run(
        _ backend: StoreBackend,
        installations: Int,
        _ body: (DispatchFixture) async throws -> Void
    ) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            for number in 1...installations {
                try await fixture.register(number...number) { $0.installation = "\(number)" }
            }
            try await body(fixture)
        }
    }

    private func register(_ moves: [Move], in fixture: DispatchFixture) async throws {
        for move in moves {
            try await fixture.register(move.token...move.token) { $0.installation = move.installation }
        }
    }

    private func expect(
        _ fixture: DispatchFixture,
        _ notification: NotificationRecord,
        accepted: Int,
        skipped: Int = 0
    ) async throws {
        // Those that depend on each other are asked again after a while.
        try await fixture.settle(after: .seconds(30), times: 3)
        let end = try await fixture.progress(of: notification)
        #expect(end.state == .done)
        #expect(end.progress.accepted == accepted)
        #expect(end.progress.skipped == skipped)
        #expect(end.progress.recipients == accepted + skipped)
        #expect(Set(fixture.sentTokens).count == accepted)
        #expect(fixture.sentTokens.count == accepted, "no token twice")
    }

    /// Two that swap theirs, and three that hand them round.
    @Test(
        arguments: StoreBackend.available,
        [
            [(2, "1"), (1, "2")], [(6, "5"), (5, "6")], [(5, "2"), (2, "5")],
            [(4, "2"), (6, "4"), (2, "6")],
        ]
    )
    func installationsThatExchangeTheirTokensAreAllSentTo(
        backend: StoreBackend,
        moves: [(token: Int, installation: String)]
    ) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            try await self.register(moves, in: fixture)
            try await fixture.settle()
            try await self.expect(fixture, notification, accepted: 6)
        }
    }

    /// The first page has been sent, the second one has not: installation 6 has token 1, which has had it.
    @Test(arguments: StoreBackend.available)
    func ofASwapWithADeviceThatWasSentToOneIsSkipped(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            #expect(fixture.sentTokens == [.numbered(1), .numbered(2)])
            try await self.register([(6, "1"), (1, "6")], in: fixture)
            try await fixture.settle(dispatcher)
            try await self.expect(fixture, notification, accepted: 5, skipped: 1)
        }
    }

    /// Its former device is sent to by its new token, before or after: the token has had nothing.
    @Test(arguments: StoreBackend.available, [(1, 6), (6, 1)])
    func aTokenThatWasGivenUpUnusedIsSentTo(backend: StoreBackend, pair: (Int, Int)) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            let (former, next) = pair
            try await self.register([(9, "\(former)"), (former, "\(next)")], in: fixture)
            try await fixture.settle()
            try await self.expect(fixture, notification, accepted: 6)
            #expect(!fixture.sentTokens.contains(.numbered(next)))
        }
    }

    /// The page with token 1 is in flight when its device gives it up and another one takes it.
    @Test(arguments: StoreBackend.available, [1, 2])
    func aTokenThatIsGivenUpInFlightIsSentToOnce(backend: StoreBackend, number: Int) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            fixture.whileSending {
                try await self.register([(9, "\(number)"), (number, "6")], in: fixture)
            }
            try await fixture.settle()
            try await self.expect(fixture, notification, accepted: 5, skipped: 1)
            #expect(!fixture.sentTokens.contains(.numbered(9)))
        }
    }

    /// What the push service says of a token that was given up is not held against the next one.
    @Test(arguments: StoreBackend.available)
    func aBadTokenThatIsGivenUpInFlightSuspectsNothing(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 1) { fixture in
            fixture.sender.script(.numbered(1), .refused(400, .badDeviceToken))
            fixture.whileSending { try await self.register([(9, "1")], in: fixture) }
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(9)?.suspicions == 0)
            let events = try await fixture.store.tokenEvents(
                app: fixture.app,
                token: nil,
                action: .suspected,
                before: nil,
                limit: 10
            )
            #expect(events.isEmpty)
        }
    }

    /// Of three tokens that a device had, the first one has had it.
    @Test(arguments: StoreBackend.available)
    func aLaterTokenOfADeviceIsNotCountedAsSent(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            try await self.register([(8, "1"), (9, "1"), (8, "6"), (1, "5")], in: fixture)
            try await fixture.settle(dispatcher)
            try await self.expect(fixture, notification, accepted: 5, skipped: 1)
            #expect(fixture.sentTokens.contains(.numbered(8)))
        }
    }

    /// A token without an installation goes to one, and that has another token before the end of the shard: one device.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatGotItsInstallationLaterIsSentToOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...5)
            try await fixture.register(6...6) { $0.installation = "phone" }
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            #expect(fixture.sentTokens == [.numbered(1), .numbered(2)])
            try await self.register([(1, "phone"), (9, "phone")], in: fixture)
            try await fixture.settle(dispatcher)
            try await self.expect(fixture, notification, accepted: 5, skipped: 1)
            #expect(!fixture.sentTokens.contains(.numbered(9)))
        }
    }

    /// At most once: it was begun by one token, which the device gave up, and came back unsent.
    @Test(arguments: StoreBackend.available)
    func aTokenThatWasBegunAndNotSentToHasHadNothing(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 2) { fixture in
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            let once = Once()
            fixture.sender.onSend { push in
                guard push.token == .numbered(1), once.isFirst() else { return }
                do {
                    try await self.register([(9, "1")], in: fixture)
                } catch { Issue.record("\(error)") }
            }
            try await fixture.settle()
            // The device has its first token again.
            try await self.register([(1, "1")], in: fixture)
            try await fixture.settle(after: .seconds(60), times: 3)
            try await fixture.store.expect(notification, .done, accepted: 2)
        }
    }

    /// Three changes of a token in the time of one push.
    @Test(arguments: StoreBackend.available)
    func theTokenThatWasSentToIsTheOneThatHasHadIt(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 6) { fixture in
            let notification = try await fixture.accept([:])
            fixture.whileSending {
                try await self.register([(8, "1"), (1, "1"), (9, "1"), (1, "6"), (8, "5")], in: fixture)
            }
            try await fixture.settle()
            try await self.expect(fixture, notification, accepted: 5, skipped: 1)
            #expect(fixture.sentTokens.contains(.numbered(8)))
        }
    }

    /// The device of installation 1 has been removed, and is kept while a notification is being sent: that shows in nothing
    /// that its next registration comes to.
    @Test(arguments: StoreBackend.available, [nil, "alice", "bob"] as [String?])
    func aTokenOfARemovedInstallationIsTheSameWhileANotificationRuns(
        backend: StoreBackend,
        user: String?
    ) async throws {
        for isRunning in [false, true] {
            try await self.run(backend, installations: 6) { fixture in
                let expected = Shown(
                    kind: .refreshed,
                    // The key to encrypt with was that of the other installation.
                    profile: DeviceProfile(
                        user: user ?? "alice",
                        locale: "de",
                        installation: "1",
                        tags: ["beta"],
                        attributes: ["plan": .string("pro")]
                    ),
                    createdAt: fixture.time.now,
                    outdated: user == "bob" ? 1 : 0
                )
                try await fixture.register(2...2) { registration in
                    registration.user = .set("alice")
                    registration.tags = ["beta"]
                    registration.locale = .set("de")
                    registration.attributes = ["plan": .set(.string("pro"))]
                    registration.encryptionKey = .set(InstallationPublicKey(id: "k", bytes: Array(1...32)))
                }
                let dispatcher = fixture.dispatcher
                if isRunning {
                    try await fixture.accept([:])
                    _ = try await dispatcher.step()
                }
                fixture.time.advance(by: .seconds(1))
                try await fixture.delete(1)
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(2))
                (registration.installation, registration.user) = ("1", user.map { Update.set($0) })
                let result = try await fixture.store.register(
                    [registration],
                    app: fixture.app,
                    at: fixture.time.reading
                )
                let shown = Shown(result, try await fixture.device(2))
                #expect(shown == expected, "while a notification runs: \(isRunning)")
                try await fixture.settle(dispatcher, after: .seconds(30), times: 3)
                #expect(Set(fixture.sentTokens).count == fixture.sentTokens.count, "no token twice")
            }
        }
    }

    /// What a registration says, and what the device is after it, but for its id.
    fileprivate struct Shown: Hashable {
        var kind: RegistrationResult.Kind?
        var profile: DeviceProfile?
        var createdAt: Timestamp?
        var outdated: Int?
    }

    /// The removed device is kept until it is cleaned away, although the notification has ended.
    @Test(arguments: StoreBackend.available)
    func aTokenOfAnInstallationThatIsNoLongerKeptIsItsOwnDevice(backend: StoreBackend) async throws {
        try await self.run(backend, installations: 2) { fixture in
            try await fixture.register(2...2) { $0.user = .set("alice") }
            let before = try await fixture.device(2)
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.delete(1)
            try await fixture.settle(after: .seconds(60), times: 3)
            #expect(try await fixture.progress(of: notification).state == .done)
            try await self.register([(2, "1")], in: fixture)
            let after = try await fixture.device(2)
            #expect(after?.id == before?.id)
            #expect(after?.profile.user == "alice")
            #expect(after?.profile.installation == "1")
        }
    }
}

extension TokenHandoverTests.Shown {
    fileprivate init(_ results: [RegistrationResult], _ device: DeviceRecord?) {
        self.init(
            kind: results.first?.kind,
            profile: device?.profile,
            createdAt: device?.createdAt,
            outdated: results.first?.outdated.count
        )
    }
}
