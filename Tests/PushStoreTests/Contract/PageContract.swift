import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of pages: the recipients of a shard.
@Suite(.timeLimit(.patience)) struct PageContract: StoreContract {
    @Test(arguments: StoreBackend.available, [1, 2, 3, 7, 1000])
    func everyActiveDeviceIsReachedOnceInOrder(backend: StoreBackend, size: Int) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            var tokens: [DeviceToken] = []
            for number in 1...6 {
                try await store.register(number, app: app)
                try await store.register(number, app: other)
                tokens.append(.numbered(number))
            }
            let dead = try await store.register(7, app: app)
            try await store.apply(.deactivated(since: self.later), to: dead, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            #expect(try await store.readAll(claim, page: size).map(\.token) == tokens)
        }
    }

    @Test(arguments: StoreBackend.available)
    func onlyDevicesOfTheEnvironmentAreReached(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...4 {
                try await store.register(
                    number,
                    app: app,
                    environment: number.isMultiple(of: 2) ? .sandbox : .production
                )
            }
            _ = try await store.start(app: app) { $0.environment = .production }
            let recipients = try await store.readAll(try await store.claimed(), page: 1)
            #expect(recipients.map(\.token) == [.numbered(1), .numbered(3)])
            #expect(recipients.map(\.environment) == [.production, .production])
            _ = try await store.start(app: app)
            #expect(try await store.readAll(try await store.claimed(), page: 1).count == 4)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatRegistersLaterIsNotReached(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            _ = try await store.start(app: app)
            try await store.register(2, app: app)
            let recipients = try await store.readAll(try await store.claimed(), page: 1)
            #expect(recipients.map(\.token) == [.numbered(1)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRecipientCarriesWhatItsContentNeeds(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { registration in
                registration.user = .set("alice")
                registration.locale = .set("pt-BR")
                registration.timeZone = .set("America/Sao_Paulo")
                registration.appVersion = .set("2.10.1")
                registration.attributes = ["plan": .set(.string("pro")), "age": .set(.integer(30))]
            }
            try await store.register(2, app: app)
            try await store.apply(.suspected, to: id, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            let plain = try await store.page(claim, limit: 1, needs: []).recipients
            #expect(plain.map(\.profile) == [nil])
            #expect(plain.map(\.registeredAt) == [self.now])
            #expect(plain.map(\.isSuspected) == [true])
            let few = try await store.page(claim, limit: 1, needs: [.timeZone, .user]).recipients
            var expected = RecipientProfile()
            expected.user = "alice"
            expected.timeZone = "America/Sao_Paulo"
            #expect(few.map(\.profile) == [expected])
            let all: RecipientProfileFields = [.user, .locale, .timeZone, .appVersion, .attributes]
            expected.locale = "pt-BR"
            expected.appVersion = "2.10.1"
            expected.attributes = Data(#"{"age":30,"plan":"pro"}"#.utf8)
            let both = try await store.page(claim, limit: 2, needs: all).recipients
            #expect(both.map(\.profile) == [expected, RecipientProfile()])
            #expect(both.map(\.isSuspected) == [true, false])
        }
    }

    @Test(arguments: StoreBackend.available, [1, 2, 10])
    func namedTokensAreReachedInTheirOrder(backend: StoreBackend, size: Int) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(2, app: app) { $0.user = .set("alice") }
            let inactive = try await store.register(3, app: app)
            try await store.apply(.deactivated(since: self.later), to: inactive, app: app)
            let tokens = [5, 2, 3, 1].map { DeviceToken.numbered($0) }
            _ = try await store.start(app: app, to: .tokens(tokens)) { $0.environment = .sandbox }
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: size, needs: .user)
            #expect(recipients.map(\.token) == tokens, "a named token is meant")
            #expect(recipients.map(\.device) == [nil, device, inactive, nil])
            #expect(recipients.allSatisfy { $0.id < 0 && $0.environment == .sandbox })
            #expect(Set(recipients.map(\.id)).count == 4)
            #expect(recipients.map { $0.profile?.user } == [nil, "alice", nil, nil])
        }
    }

    @Test(arguments: StoreBackend.available, [1, 100])
    func zonesAreReadOneByOneAndTheRemainderLast(backend: StoreBackend, size: Int) async throws {
        try await backend.withStore { store, app in
            let zones = ["Europe/Berlin", "Asia/Tokyo", nil, "Europe/Berlin", nil]
            for (number, zone) in zones.enumerated() {
                try await store.register(number, app: app) { $0.timeZone = zone.map { .set($0) } }
            }
            let plans = [ShardPlan.Zone.named("Asia/Tokyo"), .unknown, .named("Europe/Berlin"), .remainder].enumerated()
                .map { ShardPlan(zone: $1, notBefore: self.now.advanced(by: .seconds($0))) }
            let notification = try await store.start(app: app, shards: plans)
            func send(at now: Timestamp) async throws -> [DeviceToken] {
                let claim = try await store.claimed(now: now)
                let recipients = try await store.readAll(claim, page: size)
                try await store.commit(claim, now: now) { page in
                    page.deliveries = recipients.dropFirst().map { .fixture($0) }
                    page.retries = recipients.prefix(1).map {
                        RetryResult(recipient: $0.id, attempts: 1, dueAt: self.later)
                    }
                    page.step = .last(claim)
                }
                return recipients.map(\.token)
            }
            #expect(try await send(at: self.now) == [.numbered(1)])
            #expect(try await send(at: self.now.advanced(by: .seconds(1))) == [.numbered(2), .numbered(4)])
            // It moves to a zone whose shard has ended.
            try await store.register(3, app: app) { $0.timeZone = .set("Asia/Tokyo") }
            #expect(try await send(at: self.now.advanced(by: .seconds(2))) == [.numbered(0)])
            #expect(try await send(at: self.now.advanced(by: .seconds(3))) == [.numbered(3)])
            #expect(try await store.current(notification).progress.retrying == 4)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whoIsLeftOverIsNotClaimedBeforeEverybodyElse(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            let plans = [ShardPlan.Zone.remainder, .unknown].map { ShardPlan(zone: $0, notBefore: self.now) }
            _ = try await store.start(app: app, shards: plans)
            let claims = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 9)
            #expect(claims.map(\.zone) == [.unknown])
            let claim = try #require(claims.first)
            try await store.commit(claim) { $0.step = .last(claim) }
            #expect(try await store.claimed().zone == .remainder)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBigAudienceIsSplitWithoutOverlap(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let registrations = (1...300).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            _ = try await store.register(registrations, app: app, now: self.now)
            // The number of shards follows from the counted recipients.
            _ = try await store.start(app: app) { $0.progress.recipients = 1_000_000 }
            let claims = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 100)
            #expect(claims.count > 1)
            var tokens: [DeviceToken] = []
            for claim in claims { tokens += try await store.readAll(claim, page: 7).map(\.token) }
            #expect(tokens.count == 300)
            #expect(Set(tokens) == Set(registrations.map(\.token)))
        }
    }
}
