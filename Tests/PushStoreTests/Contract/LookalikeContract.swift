import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Names that look the same and have other bytes: what is in memory and in the database agrees.
@Suite(.timeLimit(.patience)) struct LookalikeContract: StoreContract {
    /// e with an accent in one character, and in two.
    private static let (short, long) = ("caf\u{e9}", "cafe\u{301}")

    /// Returns the number of devices of an audience.
    private func count(_ store: any ProviderStore, _ app: Int64, _ audience: AudienceExpression) async throws -> Int {
        try await store.count(app: app, audience: audience, environment: nil)
    }

    private func profile(_ store: any ProviderStore, _ app: Int64, _ number: Int) async throws -> DeviceProfile {
        try #require(try await store.devices(app: app, token: .numbered(number)).first).profile
    }

    @Test(arguments: StoreBackend.available)
    func tagsThatLookTheSameAreTwo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.tags = [BytewiseString(Self.short), BytewiseString(Self.long)] }
            try await store.register(2, app: app) { $0.tags = [BytewiseString(Self.long)] }
            #expect(
                try await self.profile(store, app, 1).tags == [BytewiseString(Self.short), BytewiseString(Self.long)]
            )
            #expect(try await self.count(store, app, .tag(Self.short)) == 1)
            #expect(try await self.count(store, app, .tag(Self.long)) == 2)
            // An installation that writes its own tag leaves the other one, which it may not write.
            try await store.register(2, app: app) { registration in
                registration.tags = [BytewiseString(Self.short)]
                registration.ownTags = NamePatterns([Self.short])
            }
            #expect(
                try await self.profile(store, app, 2).tags == [BytewiseString(Self.short), BytewiseString(Self.long)]
            )
            #expect(try await self.count(store, app, .tag(Self.long)) == 2)
        }
    }

    /// Of attributes that look the same the newest stays, in the database too.
    @Test(arguments: StoreBackend.available)
    func aDeviceHasOneOfAttributesThatLookTheSame(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func expect(short: Int, long: Int) async throws {
                #expect(try await self.count(store, app, .hasAttribute(Self.short)) == short)
                #expect(try await self.count(store, app, .hasAttribute(Self.long)) == long)
            }
            try await store.register(1, app: app) { $0.attributes = [Self.short: .set("old"), "plan": .set("pro")] }
            try await expect(short: 1, long: 0)
            try await store.register(1, app: app) { $0.attributes = [Self.long: .set("new")] }
            try await expect(short: 0, long: 1)
            let profile = try await self.profile(store, app, 1)
            #expect(profile.attributes == [Self.long: "new", "plan": "pro"])
            #expect(profile.attributes.keys.contains { $0.utf8.elementsEqual(Self.long.utf8) })
            let old = AudienceExpression.attribute(name: Self.short, .equal, .string("old"))
            #expect(try await self.count(store, app, old) == 0)
            #expect(try await self.count(store, app, .hasAttribute("plan")) == 1)
            // Either spelling clears it.
            try await store.register(1, app: app) { $0.attributes = [Self.short: .clear] }
            try await expect(short: 0, long: 0)
            #expect(try await self.profile(store, app, 1).attributes == ["plan": "pro"])
        }
    }

    /// Rows that an earlier version left of a name that is not in the device's attributes any more.
    @Test(arguments: StoreBackend.available)
    func rowsOfAnEarlierVersionGoWithTheNextRegistration(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            guard let sql = store as? SQLStore else { return }
            let device = try await store.register(1, app: app) { $0.attributes = [Self.long: .set("new")] }
            try await sql.database.write { database in
                let old = try #require(database.attributes.stored(.string("old")))
                try database.insert(
                    into: "deviceAttribute",
                    ["app": app, "name": Self.short, "device": device, old.column: old.value]
                )
            }
            try await store.register(1, app: app) { $0.attributes = [Self.long: .set("newer")] }
            #expect(try await self.count(store, app, .hasAttribute(Self.short)) == 0)
            #expect(try await self.count(store, app, .hasAttribute(Self.long)) == 1)
        }
    }

    /// Two installations whose ids look the same are two devices: neither gets the token or the profile of the other.
    @Test(arguments: StoreBackend.available)
    func installationsThatLookTheSameAreTwo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = try await store.register(1, app: app) {
                ($0.installation, $0.user) = (Self.short, .set("alice"))
            }
            let second = try await store.register(2, app: app) { $0.installation = Self.long }
            #expect(first != second)
            #expect(try await self.profile(store, app, 2).user == nil)
            // Another token of the second one leaves the first one as it was.
            #expect(try await store.register(3, app: app) { $0.installation = Self.long } == second)
            #expect(try await store.devices(app: app, token: .numbered(2)).isEmpty)
            #expect(try await self.profile(store, app, 1).user == "alice")
            // The token of the first one moves to the second one, which keeps its own profile.
            #expect(try await store.register(1, app: app) { $0.installation = Self.long } == second)
            let moved = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(moved.profile.installation.map { Array($0.utf8) } == Array(Self.long.utf8))
        }
    }

    /// Each delivery has the reason with the bytes that it was written with.
    @Test(arguments: StoreBackend.available)
    func reasonsThatLookTheSameAreTwo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...2).map { .numbered($0) }))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            var page = PageResult(claim)
            page.step = .last(claim)
            page.deliveries = zip(recipients, [Self.short, Self.long]).map { recipient, reason in
                var delivery = DeliveryResult.fixture(recipient)
                (delivery.state, delivery.reason) = (.skipped, "opted out of \(reason)")
                return delivery
            }
            _ = try await store.commit([page], now: self.now)
            let deliveries = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 9)
            let reasons = Set(deliveries.compactMap(\.reason).map { BytewiseString($0) })
            #expect(
                reasons == [BytewiseString("opted out of \(Self.short)"), BytewiseString("opted out of \(Self.long)")]
            )
            let counts = try await store.skipCounts(of: notification.id)
            #expect(counts.map(\.count) == [1, 1])
        }
    }
}
