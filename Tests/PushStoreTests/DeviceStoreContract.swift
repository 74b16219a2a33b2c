import PushProtocol
import PushStore
import PushTesting
import Testing

/// What every device store must do.
@Suite(.timeLimit(.minutes(1))) struct DeviceStoreContract {
    let now = Vectors.issuedAt

    @Test(arguments: StoreBackend.available)
    func registeringAgainKeepsOneDeviceAndMerges(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let token = DeviceToken.numbered(1)
            var registration = DeviceRegistration(environment: .sandbox, token: token, user: "alice", tags: ["a", "b"])
            let first = try await store.register(registration, app: app, now: self.now)
            #expect(first.isNew)
            registration.user = nil
            registration.locale = "de_DE"
            registration.tags = nil
            let later = self.now.advanced(by: .seconds(1))
            let second = try await store.register(registration, app: app, now: later)
            #expect(!second.isNew)
            #expect(second.device.id == first.device.id)
            #expect(second.device.user == "alice")
            #expect(second.device.locale == "de_DE")
            #expect(second.device.tags == ["a", "b"])
            #expect(second.device.registeredAt == later)
            registration.tags = ["c"]
            #expect(try await store.register(registration, app: app, now: later).device.tags == ["c"])
            #expect(try await store.devices(app: app, audience: .all, after: 0, limit: 10).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func oneTokenIsTwoDevicesInTwoEnvironments(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for environment in PushEnvironment.allCases {
                let registration = DeviceRegistration(environment: environment, token: .numbered(1))
                let isNew = try await store.register(registration, app: app, now: self.now).isNew
                #expect(isNew)
            }
            #expect(try await store.devices(app: app, token: .numbered(1)).count == 2)
            #expect(try await store.deleteDevices(app: app, token: .numbered(1), environment: .sandbox) == 1)
            #expect(try await store.devices(app: app, token: .numbered(1)).map(\.environment) == [.production])
        }
    }

    @Test(arguments: StoreBackend.available)
    func devicesAreWalkedInPagesByUserTagAndAll(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...25 {
                let registration = DeviceRegistration(
                    environment: .sandbox,
                    token: .numbered(number),
                    user: number <= 2 ? "alice" : nil,
                    tags: number.isMultiple(of: 5) ? ["five"] : []
                )
                _ = try await store.register(registration, app: app, now: self.now)
            }
            #expect(try await Self.walk(store, app, .all, page: 10) == (1...25).map { .numbered($0) })
            #expect(try await Self.walk(store, app, .user("alice"), page: 1) == [.numbered(1), .numbered(2)])
            #expect(
                try await Self.walk(store, app, .tag("five"), page: 2) == [5, 10, 15, 20, 25].map { .numbered($0) }
            )
            #expect(try await Self.walk(store, app, .tag("six"), page: 2).isEmpty)
            #expect(try await Self.walk(store, app + 1, .all, page: 10).isEmpty, "another app's devices")
        }
    }

    @Test(arguments: StoreBackend.available)
    func anIDIsNeverUsedAgain(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            let id = try await store.register(first, app: app, now: self.now).device.id
            #expect(try await store.deleteDevices(app: app, token: .numbered(1), environment: nil) == 1)
            let second = DeviceRegistration(environment: .sandbox, token: .numbered(2))
            #expect(try await store.register(second, app: app, now: self.now).device.id > id)
        }
    }

    private static func walk(
        _ store: any PushStore,
        _ app: Int64,
        _ audience: Audience,
        page: Int
    ) async throws -> [DeviceToken] {
        var (tokens, after) = ([DeviceToken](), Int64(0))
        while true {
            let devices = try await store.devices(app: app, audience: audience, after: after, limit: page)
            tokens += devices.map(\.token)
            guard let last = devices.last else { return tokens }
            after = last.id
        }
    }
}
