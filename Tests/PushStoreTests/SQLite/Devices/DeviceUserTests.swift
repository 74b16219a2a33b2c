import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The users that a device had before.
@Suite struct DeviceUserTests {
    private func register(_ user: Update<String>?, _ store: any ProviderStore, _ app: Int64, at seconds: Int64)
        async throws
    {
        var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
        registration.user = user
        _ = try await store.register([registration], app: app, now: Timestamp(seconds: seconds))
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceKeepsTheTimesOfItsUsers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(nil, store, app, at: 1)
            try await self.register(.set("alice"), store, app, at: 2)
            try await self.register(.set("alice"), store, app, at: 3)
            #expect(try await store.periods(app: app, user: "alice", limit: 9) == [UserPeriod(device: 1)])
            try await self.register(.clear, store, app, at: 4)
            try await self.register(.set("carol"), store, app, at: 5)
            let until = Timestamp(seconds: 4)
            #expect(try await store.periods(app: app, user: "alice", limit: 9) == [UserPeriod(device: 1, until: until)])
            let since = Timestamp(seconds: 5)
            #expect(try await store.periods(app: app, user: "carol", limit: 9) == [UserPeriod(device: 1, since: since)])
            let erasure = try await store.eraseUser("alice", app: app, steady: Timestamp(seconds: 6))
            while try await store.continueErasure(erasure, now: Timestamp(seconds: 6)) {}
            #expect(try await store.periods(app: app, user: "alice", limit: 9).isEmpty)
            #expect(try await store.periods(app: app, user: "carol", limit: 9).count == 1, "she keeps the device")
        }
    }
}
