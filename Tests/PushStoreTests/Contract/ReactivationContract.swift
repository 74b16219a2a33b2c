import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every store about undone deactivations.
@Suite(.timeLimit(.patience)) struct ReactivationContract: StoreContract {
    private func minutes(_ count: Int64) -> Timestamp { self.now.advanced(by: .seconds(60 * count)) }

    private func filter(from: Int64, to: Int64) -> DeactivationFilter {
        DeactivationFilter(from: self.minutes(from), to: self.minutes(to))
    }

    private func deactivate(
        _ device: Int64,
        at minute: Int64,
        reason: String = "DeviceTokenNotForTopic",
        _ store: any ProviderStore,
        _ app: Int64
    ) async throws {
        let time = self.minutes(minute)
        try await store.apply(.deactivated(since: time), to: device, app: app, reason: reason, now: time)
    }

    private func active(_ store: any ProviderStore, _ app: Int64) async throws -> [Int64] {
        try await store.devices(app: app, audience: .everyone, after: 0, limit: 100).filter(\.isActive).map(\.id)
    }

    @Test(arguments: StoreBackend.available)
    func deactivationsOfATimeAreUndone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var ids: [Int64] = []
            for number in 1...4 { ids.append(try await store.register(number, app: app)) }
            for (index, minute) in ([1, 5, 9] as [Int64]).enumerated() {
                try await self.deactivate(ids[index], at: minute, store, app)
            }
            let filter = self.filter(from: 5, to: 9)
            #expect(try await store.deactivated(filter, app: app) == 1)
            #expect(try await self.active(store, app) == [ids[3]])
            let result = try await store.reactivate(filter, app: app, limit: 100, now: self.minutes(10))
            #expect(result == Reactivation(devices: 1, isComplete: true))
            #expect(try await self.active(store, app) == [ids[1], ids[3]])
            #expect(try await store.reactivate(filter, app: app, limit: 100, now: self.minutes(10)).devices == 0)
            let event = try await store.tokenEvents(app: app, token: nil, action: .reactivated, before: nil, limit: 9)
            #expect(event.map(\.device) == [ids[1]])
            #expect(event.first?.reason == "undone: DeviceTokenNotForTopic")
            // The push service may call it dead again, later.
            try await self.deactivate(ids[1], at: 11, store, app)
            #expect(try await self.active(store, app) == [ids[3]])
            #expect(try await store.deactivated(filter, app: app) == 0, "it is inactive because of the later one")
        }
    }

    @Test(arguments: StoreBackend.available)
    func reasonEnvironmentAndNotificationNarrowThem(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let topic = try await store.register(1, app: app)
            let bad = try await store.register(2, app: app)
            let production = try await store.register(3, app: app, environment: .production)
            try await self.deactivate(topic, at: 1, store, app)
            try await self.deactivate(bad, at: 1, reason: "BadDeviceToken", store, app)
            try await self.deactivate(production, at: 1, store, app)
            var filter = self.filter(from: 0, to: 2)
            #expect(try await store.deactivated(filter, app: app) == 3)
            filter.reason = "BadDeviceToken"
            #expect(try await store.deactivated(filter, app: app) == 1)
            (filter.reason, filter.environment) = (nil, .production)
            #expect(try await store.deactivated(filter, app: app) == 1)
            filter.environment = nil
            let events = try await store.tokenEvents(app: app, token: .numbered(2), action: nil, before: nil, limit: 1)
            filter.notification = events.first?.notification
            #expect(try await store.reactivate(filter, app: app, limit: 9, now: self.minutes(3)).devices == 1)
            #expect(try await self.active(store, app) == [bad])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceWithAnotherTokenOrAnotherLifeStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let replaced = try await store.register(1, app: app) { $0.installation = "i" }
            let deleted = try await store.register(2, app: app)
            let moved = try await store.register(3, app: app)
            for id in [replaced, deleted, moved] { try await self.deactivate(id, at: 1, store, app) }
            try await store.register(9, app: app, now: self.minutes(2)) { $0.installation = "i" }
            try await self.deactivate(replaced, at: 5, reason: "Unregistered", store, app)
            _ = try await store.deleteDevices(app: app, token: .numbered(2), environment: nil, now: self.minutes(2))
            try await store.register(3, app: app, now: self.minutes(2))
            #expect(try await store.deactivated(self.filter(from: 0, to: 2), app: app) == 0)
            #expect(try await self.active(store, app) == [moved])
            let other = try await store.addApp(
                bundleID: try #require(Topic("com.example.Other")),
                name: nil,
                now: self.now
            )
            #expect(try await store.deactivated(self.filter(from: 0, to: 9), app: other.app.id) == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func manyTakeSeveralCalls(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let registrations = (1...4100).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            let ids = try await store.register(registrations, app: app, now: self.now).map(\.device)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim, now: self.minutes(1)) { page in
                page.tokenChanges = ids.map {
                    TokenStateChange(device: $0, kind: .deactivated(since: self.minutes(1)), reason: "Unregistered")
                }
                page.step = .last(claim)
            }
            let filter = self.filter(from: 0, to: 2)
            #expect(try await store.deactivated(filter, app: app) == 4100)
            let first = try await store.reactivate(filter, app: app, limit: 1, now: self.minutes(3))
            #expect(!first.isComplete)
            #expect((1..<4100).contains(first.devices))
            let second = try await store.reactivate(filter, app: app, limit: 9999, now: self.minutes(3))
            #expect(second == Reactivation(devices: 4100 - first.devices, isComplete: true))
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 4100)
        }
    }
}
