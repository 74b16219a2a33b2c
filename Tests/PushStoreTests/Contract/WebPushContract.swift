import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

/// The contract of every ``WebPushStore``.
@Suite(.timeLimit(.patience)) struct WebPushContract: StoreContract {
    private func key(_ app: Int64, after seconds: Int64 = 0) -> VAPIDKeyRecord {
        let key = VAPIDKey()
        return VAPIDKeyRecord(
            app: app,
            publicKey: key.publicKey,
            privateKey: key.privateKey,
            contact: "mailto:ops@example.org",
            createdAt: self.now.advanced(by: .seconds(seconds))
        )
    }

    private func subscription(_ number: Int) throws -> WebPushSubscription {
        try WebPushSubscription(Browser(at: "https://push.example/\(number)").subscription, at: "subscription")
    }

    @discardableResult
    private func register(
        _ subscription: WebPushSubscription,
        _ store: any ProviderStore,
        _ app: Int64,
        vapidKey: [UInt8]? = nil,
        installation: String? = nil
    ) async throws -> Int64 {
        var registration = DeviceRegistration(environment: .production, token: try subscription.token)
        (registration.kind, registration.installation) = (.web, installation)
        registration.user = .set("alice")
        registration.subscription = SubscriptionRegistration(subscription, vapidKey: vapidKey)
        return try await store.register([registration], app: app, now: self.now).first?.device ?? 0
    }

    private func stored(
        _ subscription: WebPushSubscription,
        _ store: any ProviderStore,
        _ app: Int64
    ) async throws -> SubscriptionRecord? {
        let token = try subscription.token
        return try await store.subscriptions(app: app, tokens: [token, token, .numbered(1)])[token]
    }

    /// Its app was deleted after it had been looked up.
    @Test(arguments: StoreBackend.available)
    func aKeyOfAnAppThatIsGoneIsRefused(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            await #expect(throws: StoreError.ownerRemoved(.app)) { try await store.addVAPIDKey(self.key(app + 1000)) }
        }
    }

    @Test(arguments: StoreBackend.available)
    func keysAreKeptByTime(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await store.vapidKeys(app: app) == [])
            #expect(try await store.setVAPIDContact("mailto:a@example.org", app: app) == false)
            let (first, second) = (self.key(app), self.key(app, after: 1))
            #expect(try await store.addVAPIDKey(first))
            #expect(try await store.addVAPIDKey(second))
            #expect(try await store.vapidKeys(app: app) == [second, first])
            #expect(try await store.vapidKeys(app: app + 1) == [])
            #expect(try await store.setVAPIDContact("mailto:a@example.org", app: app))
            let contacts = try await store.vapidKeys(app: app).map(\.contact)
            #expect(contacts == ["mailto:a@example.org", "mailto:a@example.org"])
            // One that is there already becomes the newest.
            var again = first
            again.createdAt = self.now.advanced(by: .seconds(2))
            #expect(try await store.addVAPIDKey(again))
            let keys = try await store.vapidKeys(app: app)
            #expect(keys.map(\.id) == [first.id, second.id])
            #expect(keys.first == again)
        }
    }

    @Test(arguments: StoreBackend.available)
    func keysInUseStay(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var keys: [VAPIDKeyRecord] = []
            for number in 0..<VAPIDKeyRecord.maximumCount {
                keys.append(self.key(app, after: Int64(number)))
                let isAdded = try await store.addVAPIDKey(keys[number])
                #expect(isAdded)
                try await self.register(try self.subscription(number), store, app)
            }
            #expect(try await store.addVAPIDKey(self.key(app, after: 100)) == false)
            #expect(try await store.vapidKeys(app: app) == keys.reversed())
            // Without its subscription an old key goes, and there is room again.
            _ = try await store.deleteDevices(
                app: app,
                token: try self.subscription(0).token,
                environment: nil,
                now: self.now
            )
            #expect(try await store.addVAPIDKey(self.key(app, after: 101)))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aSubscriptionKeepsItsKey(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (first, second) = (self.key(app), self.key(app, after: 1))
            let one = try self.subscription(1)
            try await self.register(one, store, app)
            #expect(try await self.stored(one, store, app) == SubscriptionRecord(subscription: one, vapidKey: nil))
            #expect(try await store.addVAPIDKey(first))
            try await self.register(one, store, app)
            #expect(try await self.stored(one, store, app)?.vapidKey == first.id, "the newest one")
            #expect(try await store.addVAPIDKey(second))
            try await self.register(one, store, app)
            #expect(try await self.stored(one, store, app)?.vapidKey == first.id, "whatever the newest one is")
            try await self.register(one, store, app, vapidKey: second.publicKey)
            #expect(try await self.stored(one, store, app)?.vapidKey == second.id)
            let two = try self.subscription(2)
            try await self.register(two, store, app, vapidKey: first.publicKey)
            #expect(try await self.stored(two, store, app)?.vapidKey == first.id)
            #expect(try await self.stored(two, store, app + 1) == nil)
            #expect(try await store.tokenKinds(app: app) == [.web])
            #expect(try await store.count(app: app, audience: .everyone, environment: nil, kind: .web) == 2)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil, kind: .alert) == 0)
        }
    }

    @Test(arguments: StoreBackend.available, [false, true])
    func aSubscriptionGoesWithItsDevice(backend: StoreBackend, isWatched: Bool) async throws {
        try await backend.withStore { store, app in
            // While a notification is in progress, devices that leave are hidden.
            if isWatched { _ = try await store.start(app: app) }
            let (one, two, three) = (try self.subscription(1), try self.subscription(2), try self.subscription(3))
            for subscription in [one, two, three] { try await self.register(subscription, store, app) }
            _ = try await store.deleteDevices(app: app, token: try one.token, environment: nil, now: self.now)
            #expect(try await self.stored(one, store, app) == nil)
            try await self.register(one, store, app)
            #expect(try await self.stored(one, store, app) != nil, "it has come back")
            // Another subscription of the same browser replaces it.
            try await self.register(two, store, app, installation: "a browser")
            let other = try self.subscription(4)
            try await self.register(other, store, app, installation: "a browser")
            #expect(try await self.stored(two, store, app) == nil)
            #expect(try await self.stored(other, store, app) != nil)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            for subscription in [one, three, other] {
                let left = try await self.stored(subscription, store, app)
                #expect(left == nil)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func keysGoWithTheirApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await store.addVAPIDKey(self.key(app)))
            try await self.register(try self.subscription(1), store, app)
            let erasure = try #require(try await store.eraseApp(app, now: self.now, steady: self.now))
            #expect(try await store.vapidKeys(app: app) == [])
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await self.stored(try self.subscription(1), store, app) == nil)
        }
    }
}
