import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The devices of a user who comes back while the user's erasure is under way.
@Suite(.timeLimit(.patience)) struct ErasureContract: StoreContract {
    /// The user of a device before the request.
    enum Earlier: CaseIterable {
        case nobody, another, theSame

        var user: Update<String>? {
            switch self {
            case .nobody: nil
            case .another: .set("bob")
            case .theSame: .set("alice")
            }
        }
    }

    private func users(_ number: Int, _ store: any ProviderStore, _ app: Int64) async throws -> [String?] {
        try await store.devices(app: app, token: .numbered(number)).map(\.profile.user)
    }

    private func erase(_ store: any ProviderStore, _ app: Int64) async throws -> ErasureRecord {
        let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
        while try await store.continueErasure(erasure, now: self.now) {}
        return erasure
    }

    /// Signs the user in on the device with token 1, by a clock that was set back since the request.
    private func signIn(_ store: any ProviderStore, _ app: Int64) async throws {
        let now = self.now.advanced(by: .seconds(-3600))
        try await store.register(1, app: app, now: now) { $0.user = .set("alice") }
    }

    /// The device is older than the request, and the user's only after it. It is part of the next one.
    @Test(arguments: StoreBackend.available, Earlier.allCases)
    func aDeviceThatBecomesTheUsersAfterTheRequestStays(backend: StoreBackend, earlier: Earlier) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app) { registration in
                (registration.installation, registration.user) = ("phone", earlier.user)
                registration.attributes = ["plan": .set(.string("pro"))]
            }
            if earlier == .theSame { try await store.register(1, app: app) { $0.user = .clear } }
            try await store.register(2, app: app) { $0.user = .set("alice") }
            let erasure = try await self.erase(store, app)
            try await self.signIn(store, app)
            let hash = [UInt8](repeating: 1, count: 32)
            let resource = PushResourceRecord(hash: hash, app: app, installation: "phone", createdAt: self.now)
            #expect(try await store.addPushResource(resource) == .added)
            try await store.setBadge(3, app: app, holder: "user:alice")
            for _ in 1...2 { while try await store.continueErasure(erasure, now: self.now) {} }
            try await store.finishErasure(erasure)
            let left = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(left.id == device && left.profile.user == "alice")
            #expect(left.profile.installation == "phone" && left.profile.attributes == ["plan": .string("pro")])
            #expect(try await store.pushResources(app: app, installation: "phone").count == 1)
            #expect(try await store.badge(app: app, holder: "user:alice") == 3)
            #expect(try await self.users(2, store, app) == [])
            _ = try await self.erase(store, app)
            #expect(try await self.users(1, store, app) == [])
        }
    }

    /// The app registers at each of its starts, which changes no user.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatStaysTheUsersIsErased(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.register(1, app: app, now: self.later) { $0.user = .set("alice") }
            #expect(try await self.users(1, store, app) == ["alice"])
            while try await store.continueErasure(erasure, now: self.later) {}
            #expect(try await self.users(1, store, app) == [])
        }
    }

    /// A device that the user leaves and takes again between two steps: only the first time with it goes.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatTheUserTakesAgainStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app) { $0.user = .set("alice") }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.register(1, app: app, now: self.later) { $0.user = .clear }
            let since = self.later.advanced(by: .seconds(1))
            try await store.register(1, app: app, now: since) { $0.user = .set("alice") }
            while try await store.continueErasure(erasure, now: since) {}
            #expect(try await self.users(1, store, app) == ["alice"])
            let periods = try await store.periods(app: app, user: "alice", limit: 9)
            #expect(periods == [UserPeriod(device: device, since: since)])
        }
    }

    /// A device that was removed, and that a campaign in progress has kept for its return, is registered anew.
    @Test(arguments: StoreBackend.available)
    func aRemovedDeviceThatIsBackAfterTheRequestStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app) { $0.user = .set("alice") }
            _ = try await store.start(app: app)
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.now)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await self.signIn(store, app)
            while try await store.continueErasure(erasure, now: self.now) {}
            let left = try await store.devices(app: app, token: .numbered(1))
            #expect(left.map(\.id) == [device] && left.map(\.profile.user) == ["alice"])
        }
    }

    /// A device that has the user from its installation, and not from a registration, is the user's for as long as that is.
    @Test(arguments: StoreBackend.available)
    func aDeviceThatHasTheUserFromItsInstallationGoesOrStaysWithIt(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { ($0.installation, $0.user) = ("phone", .set("alice")) }
            for number in [3, 5] { try await store.register(number, app: app) { $0.user = .set("bob") } }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.register(4, app: app) { ($0.installation, $0.user) = ("tablet", .set("alice")) }
            // A new device, and two that are older than the request.
            try await store.register(2, app: app) { ($0.installation, $0.kind) = ("phone", .voip) }
            for (number, installation) in [(3, "phone"), (5, "tablet")] {
                try await store.register(number, app: app) { ($0.installation, $0.kind) = (installation, .location) }
            }
            for number in 1...5 { #expect(try await self.users(number, store, app) == ["alice"]) }
            while try await store.continueErasure(erasure, now: self.now) {}
            for number in [1, 2, 3] { #expect(try await self.users(number, store, app) == []) }
            for number in [4, 5] { #expect(try await self.users(number, store, app) == ["alice"]) }
        }
    }
}
