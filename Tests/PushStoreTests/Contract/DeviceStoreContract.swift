import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The contract of every ``DeviceStore``.
@Suite(.timeLimit(.patience)) struct DeviceStoreContract {
    let now = Vectors.issuedAt
    var later: Timestamp { self.now.advanced(by: .seconds(1)) }

    @Test(arguments: StoreBackend.available)
    func registeringAgainKeepsOneDeviceAndMerges(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            registration.user = .set("alice")
            registration.tags = ["a", "b"]
            registration.capabilities = [.alert, .badge]
            registration.attributes = [
                "plan": .set(.string("pro")), "age": .set(.integer(30)), "vip": .set(.bool(true)),
            ]
            let first = try await store.register([registration], app: app, now: self.now)
            #expect(first.map(\.kind) == [.added])

            registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            registration.locale = .set("de_DE")
            registration.attributes = ["age": .set(.integer(31)), "vip": .clear, "never": .clear]
            let second = try await store.register([registration], app: app, now: self.later)
            #expect(second == [RegistrationResult(device: first[0].device, kind: .refreshed)])

            let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
            let device = try #require(devices.first)
            #expect(devices.count == 1)
            #expect(device.profile.user == "alice")
            #expect(device.profile.locale == "de-DE", "a language tag has hyphens")
            #expect(device.profile.tags == ["a", "b"])
            #expect(device.profile.attributes == ["plan": .string("pro"), "age": .integer(31)])
            #expect(device.profile.capabilities == [.alert, .badge])
            #expect(device.createdAt == self.now)
            #expect(device.registeredAt == self.later)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsClearedIsGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { registration in
                registration.user = .set("alice")
                registration.locale = .set("de")
                registration.timeZone = .set("Europe/Berlin")
                registration.appVersion = .set("2.1")
                registration.tags = ["a"]
                registration.attributes = ["plan": .set(.string("pro"))]
            }
            try await store.register(1, app: app) { registration in
                registration.user = .clear
                registration.locale = .clear
                registration.timeZone = .clear
                registration.appVersion = .clear
                registration.tags = []
                registration.attributes = ["plan": .clear]
            }
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(device.profile == DeviceProfile())
            let version = try #require(AppVersion("1"))
            for gone: AudienceExpression in [
                .user("alice"), .locale("de"), .timeZone("Europe/Berlin"), .tag("a"), .hasAttribute("plan"),
                .appVersion(.atLeast, version),
            ] {
                #expect(try await store.count(app: app, audience: gone, environment: nil) == 0, "\(gone)")
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func attributesKeepTheirTypes(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let attributes: [String: JSONValue] = [
                "text": .string("\"quoted\"\n\u{1F426}"), "empty": .string(""), "digits": .string("12"),
                "integer": .integer(.min), "number": .number(0.1), "huge": .number(1e300), "yes": .bool(true),
                "no": .bool(false),
            ]
            try await store.register(1, app: app) { $0.attributes = attributes.mapValues { .set($0) } }
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(device.profile.attributes == attributes)
        }
    }

    @Test(arguments: StoreBackend.available)
    func tokensOfEveryLengthAreKept(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let tokens = try [1, 32, 100, DeviceToken.maximumLength].map { length in
                try #require(DeviceToken(bytes: [UInt8](repeating: 0xff, count: length)))
            }
            let registrations = tokens.map { DeviceRegistration(environment: .production, token: $0) }
            let results = try await store.register(registrations, app: app, now: self.now)
            #expect(Set(results.map(\.device)).count == tokens.count)
            for token in tokens {
                #expect(try await store.devices(app: app, token: token).map(\.token) == [token])
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func oneTokenIsTwoDevicesInTwoEnvironments(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for environment in PushEnvironment.allCases {
                try await store.register(1, app: app, environment: environment) { $0.tags = ["a"] }
            }
            #expect(try await store.devices(app: app, token: .numbered(1)).count == 2)
            func delete(_ environment: PushEnvironment?) async throws -> [Int64] {
                try await store.deleteDevices(
                    app: app,
                    token: .numbered(1),
                    environment: environment,
                    now: self.later
                )
            }
            #expect(try await delete(.sandbox).count == 1)
            #expect(try await delete(.sandbox).count == 0)
            #expect(try await store.devices(app: app, token: .numbered(1)).map(\.environment) == [.production])
            #expect(try await delete(nil).count == 1)
            #expect(try await store.count(app: app, audience: .tag("a"), environment: nil) == 0)
            let events = try await store.tokenEvents(app: app, token: nil, action: .deleted, before: nil, limit: 10)
            #expect(events.map(\.environment) == [.production, .sandbox])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBatchIsInOrderAndMayNameOneTokenTwice(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let batch = [3, 1, 3, 2].map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            let results = try await store.register(batch, app: app, now: self.now)
            #expect(results.map(\.kind) == [.added, .added, .refreshed, .added])
            #expect(results[2].device == results[0].device)
            #expect(try await store.register([], app: app, now: self.now).isEmpty)
            let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
            #expect(devices.map(\.token) == [3, 1, 2].map { .numbered($0) })
        }
    }

    @Test(arguments: StoreBackend.available)
    func anInstallationKeepsItsDeviceWhenItsTokenChanges(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { registration in
                registration.installation = "phone"
                registration.user = .set("alice")
            }
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(2))
            registration.installation = "phone"
            let result = try await store.register([registration], app: app, now: self.later)
            #expect(result == [RegistrationResult(device: id, kind: .tokenReplaced)])
            #expect(try await store.devices(app: app, token: .numbered(1)).isEmpty)
            let device = try #require(try await store.devices(app: app, token: .numbered(2)).first)
            #expect(device.profile.user == "alice")
            let event = try await store.tokenEvents(app: app, token: nil, action: .replaced, before: nil, limit: 10)
            #expect(event.map(\.token) == [.numbered(1)])
            #expect(event.map(\.device) == [id])
        }
    }

    /// The token was registered before its installation was known.
    @Test(arguments: StoreBackend.available)
    func anInstallationTakesOverTheDeviceThatHasItsToken(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { $0.installation = "phone" }
            let other = try await store.register(2, app: app) { $0.installation = "tablet" }
            #expect(id != other)
            let taken = try await store.register(2, app: app) { $0.installation = "phone" }
            #expect(taken == id)
            let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
            #expect(devices.map(\.token) == [.numbered(2)])
            #expect(devices.map(\.profile.installation) == ["phone"])
            #expect(try await store.register(2, app: app) == id)
            #expect(try await store.register(2, app: app, environment: .production) { $0.installation = "phone" } != id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func registeringBringsAnInactiveDeviceBack(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            try await store.apply(.deactivated(since: self.later), to: id, app: app)
            #expect(try await store.devices(app: app, token: .numbered(1)).map(\.isActive) == [false])
            #expect(try await store.register(1, app: app, now: self.later) == id)
            #expect(try await store.devices(app: app, token: .numbered(1)).map(\.isActive) == [true])
            let events = try await store.tokenEvents(
                app: app,
                token: .numbered(1),
                action: .reactivated,
                before: nil,
                limit: 10
            )
            #expect(events.map(\.device) == [id])
        }
    }

    @Test(arguments: StoreBackend.available)
    func anIDIsNeverUsedAgain(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            let deleted = try await store.deleteDevices(
                app: app,
                token: .numbered(1),
                environment: nil,
                now: self.now
            )
            #expect(deleted == [id])
            #expect(try await store.register(2, app: app) > id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func timeZonesAreCountedOverActiveDevices(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...5 {
                try await store.register(number, app: app) { registration in
                    if number > 1 { registration.timeZone = .set(number < 4 ? "Europe/Berlin" : "Asia/Tokyo") }
                }
            }
            let dead = try await store.register(6, app: app) { $0.timeZone = .set("Asia/Tokyo") }
            try await store.apply(.deactivated(since: self.later), to: dead, app: app)
            #expect(try await store.timeZones(app: app) == ["Europe/Berlin": 2, "Asia/Tokyo": 2, nil: 1])
            #expect(try await store.timeZones(app: app + 1).isEmpty)
        }
    }
}
