import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every store about tokens that notifications name: which of them are known to be invalid.
@Suite(.timeLimit(.patience)) struct TokenLookupContract: StoreContract {
    private static let token = DeviceToken.numbered(1)

    private func tokenState(_ store: any ProviderStore, _ app: Int64, _ environment: PushEnvironment = .sandbox)
        async throws
        -> TokenState
    {
        try await store.tokenState(of: Self.token, app: app, environment: environment)
    }

    /// Sends a push that names the token, to this end.
    private func push(
        _ store: any ProviderStore,
        _ app: Int64,
        _ state: DeliveryRecord.State,
        reason: String? = nil,
        at: Timestamp? = nil
    ) async throws {
        _ = try await store.start(app: app, to: .tokens([Self.token])) { notification in
            (notification.lane, notification.environment) = (.urgent, .sandbox)
        }
        let claim = try await store.claimed(lane: .urgent)
        let recipients = try await store.readAll(claim, page: 10)
        try await store.commit(claim) { page in
            page.deliveries = recipients.map { .fixture($0, state, reason: reason, at: at ?? self.now) }
            page.step = .last(claim)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theNewestFinalStateCounts(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await self.tokenState(store, app) == .unknown)
            try await self.push(store, app, .accepted)
            #expect(try await self.tokenState(store, app) == .reached)
            #expect(try await self.tokenState(store, app, .production) == .unknown)
            #expect(try await self.tokenState(store, app + 1) == .unknown)
            try await self.push(store, app, .rejected, reason: "Unregistered", at: self.later)
            #expect(try await self.tokenState(store, app) == .invalid(at: self.later))
            // What never reached the push service, and what that said of the provider, change nothing.
            try await self.push(store, app, .failed, reason: "expired")
            try await self.push(store, app, .rejected, reason: "TopicDisallowed")
            #expect(try await self.tokenState(store, app) == .invalid(at: self.later))
            try await self.push(store, app, .accepted)
            #expect(try await self.tokenState(store, app) == .reached)
        }
    }

    @Test(arguments: StoreBackend.available)
    func manyTokensAreLookedUpTogether(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.push(store, app, .accepted)
            try await store.register(2, app: app)
            let tokens = Set([1, 2, 3].map(DeviceToken.numbered))
            #expect(try await store.known(tokens, app: app, environment: .sandbox) == [.numbered(1), .numbered(2)])
            // A registration counts in any environment.
            #expect(try await store.known(tokens, app: app, environment: .production) == [.numbered(2)])
            #expect(try await store.known(tokens, app: app + 1, environment: .sandbox).isEmpty)
            #expect(try await store.known([], app: app, environment: .sandbox).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBadTokenIsNotInvalidBeforeItsDeviceIs(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.push(store, app, .rejected, reason: "BadDeviceToken")
            #expect(try await self.tokenState(store, app) == .unknown)
            let device = try await store.register(1, app: app)
            #expect(try await self.tokenState(store, app) == .unknown)
            try await store.apply(.deactivated(since: self.later), to: device, app: app, reason: "BadDeviceToken")
            #expect(try await self.tokenState(store, app) == .invalid(at: nil))
            try await store.register(1, app: app, now: self.later)
            #expect(try await self.tokenState(store, app) == .unknown)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatIsKeptIsNotInvalid(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            try await self.push(store, app, .rejected, reason: "Unregistered")
            #expect(try await self.tokenState(store, app) == .unknown)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anOpenBreakerKeepsTokensWithoutADevice(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.push(store, app, .rejected, reason: "ExpiredToken")
            #expect(try await self.tokenState(store, app) == .invalid(at: self.now))
            var health = EnvironmentHealth()
            health.breakerOpenSince = self.now
            try await store.setHealth(health, app: app, environment: .sandbox)
            #expect(try await self.tokenState(store, app) == .unknown)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anInvalidTokenIsNotAcceptedFromWhoHadItBefore(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.push(store, app, .rejected, reason: "Unregistered", at: self.later)
            let plans = [ShardPlan(notBefore: self.now)]
            let cases: [(Timestamp?, Acceptance)] = [
                (self.now, .inactiveToken(Self.token)), (self.later, .inactiveToken(Self.token)),
                (self.later.advanced(by: .seconds(1)), .accepted), (nil, .accepted),
            ]
            for (since, expected) in cases {
                var notification = try NotificationRecord.fixture(
                    app: app,
                    to: .tokens([Self.token]),
                    environment: .sandbox
                )
                notification.acceptance.tokensSince = since
                let acceptance = try await store.accept(notification, shards: plans, idempotency: nil)
                #expect(acceptance == expected)
                let stored = try await store.notification(notification.id)
                #expect((stored != nil) == (expected == .accepted))
            }
        }
    }
}
