import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The bounds of every store on one device.
@Suite(.timeLimit(.patience)) struct DeviceLimitsContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func attributesOfManyRegistrationsDoNotAddUp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func register(_ names: Range<Int>) async throws -> RegistrationResult.Kind? {
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
                for name in names { registration.attributes["a\(name)"] = .set(.integer(1)) }
                return try await store.register([registration], app: app, now: self.now).first?.kind
            }
            #expect(try await register(0..<60) == .added)
            #expect(try await register(40..<100) == .refreshed)
            guard case .rejected(let excess)? = try await register(99..<101) else {
                Issue.record("101 attributes were taken")
                return
            }
            #expect(excess == ExceededDeviceLimit(field: "attributes", code: "too_many", limit: "100 attributes"))
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(device.profile.attributes.count == 100)
            #expect(device.profile.attributes["a100"] == nil)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anOversizedOneDoesNotRejectTheOthers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let text = JSONValue.string(String(repeating: "x", count: 250))
            var registrations = (1...20).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            for name in 0..<70 { registrations[9].attributes["attribute\(name)"] = .set(text) }
            registrations[14].tags = Set((0..<70).map { BytewiseString("\($0)" + String(repeating: "x", count: 250)) })
            registrations[17].tags = Set((0..<101).map { "\($0)" })
            let results = try await store.register(registrations, app: app, now: self.now)
            let fields = results.map { result in
                guard case .rejected(let excess) = result.kind else { return "" }
                return "\(excess.field) \(excess.code)"
            }
            #expect(fields.count { $0.isEmpty } == 17)
            #expect(fields[9] == "attributes too_large")
            #expect(fields[14] == "tags too_large")
            #expect(fields[17] == "tags too_many")
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 17)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectedRegistrationChangesNothing(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) {
                ($0.user, $0.installation, $0.tags) = (.set("alice"), "one", ["a"])
            }
            try await store.register(2, app: app)
            let before = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
            // The installation has a token of another device, which would be merged.
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(2))
            (registration.installation, registration.user) = ("one", .set("bob"))
            registration.tags = Set((0..<101).map { "\($0)" })
            let result = try await store.register([registration], app: app, now: self.now)
            guard case .rejected? = result.first?.kind else {
                Issue.record("101 tags were taken")
                return
            }
            #expect(try await store.devices(app: app, audience: .everyone, after: 0, limit: 10) == before)
        }
    }

    /// A device from before the bounds.
    @Test func aDeviceThatIsTooLargeAlreadyCanBeRefreshedAndShrink() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let app = try await store.addApp(bundleID: try #require(Topic("a")), name: nil, now: self.now).app.id
            try await store.register(1, app: app)
            let members = (0..<150).map { #""a\#($0)":"\#(String(repeating: "x", count: 200))""# }
            let text = "{\(members.joined(separator: ","))}"
            try await store.database.run(sql: "UPDATE device SET attributes = ?", [text])
            func register(_ attributes: [String: Update<JSONValue>]) async throws -> RegistrationResult.Kind? {
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
                (registration.user, registration.attributes) = (.set("alice"), attributes)
                return try await store.register([registration], app: app, now: self.now).first?.kind
            }
            #expect(try await register([:]) == .refreshed)
            #expect(try await register(["a1": .set(.string("short"))]) == .refreshed)
            #expect(try await register(["a2": .clear, "b": .set(.string("x"))]) == .refreshed)
            for more in [["new": Update<JSONValue>.set(1)], ["a3": .set(.string(String(repeating: "x", count: 900)))]] {
                guard case .rejected? = try await register(more) else {
                    Issue.record("it has grown")
                    return
                }
            }
            let all = Dictionary(uniqueKeysWithValues: (0..<149).map { ("a\($0)", Update<JSONValue>.clear) })
            #expect(try await register(all) == .refreshed)
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(Set(device.profile.attributes.keys) == ["a149", "b"])
        }
    }
}
