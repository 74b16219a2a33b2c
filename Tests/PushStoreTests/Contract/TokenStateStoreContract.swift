import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``TokenStateStore``.
@Suite(.timeLimit(.patience)) struct TokenStateStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func changesApplyToTheirDevices(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            let other = try await store.register(2, app: app)
            func apply(_ kind: TokenStateChange.Kind) async throws -> DeviceRecord? {
                try await store.apply(kind, to: id, app: app, reason: "BadDeviceToken", now: self.now)
                return try await store.devices(app: app, token: .numbered(1)).first
            }
            #expect(try await apply(.suspected)?.suspicions == 1)
            #expect(try await apply(.suspected)?.suspicions == 2)
            #expect(try await apply(.confirmed)?.suspicions == 0)
            #expect(
                try await apply(.deactivated(since: self.now))?.isActive == true,
                "it registered at that very time"
            )
            #expect(try await apply(.deactivated(since: self.later))?.isActive == false)
            #expect(try await apply(.deactivated(since: self.later))?.isActive == false)
            let events = try await self.events(store, app)
            #expect(events.map(\.action) == [.deactivated, .keptAlive, .suspected, .suspected])
            #expect(events.allSatisfy { $0.device == id && $0.reason == "BadDeviceToken" && $0.notification != nil })
            let untouched = try await store.devices(app: app, token: .numbered(2)).first
            #expect(untouched?.id == other)
            #expect(untouched?.isActive == true)
            try await store.apply(.suspected, to: 999, app: app)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenMovesToTheOtherEnvironment(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app, environment: .production)
            try await store.apply(.moved(to: .sandbox), to: id, app: app)
            let device = try #require(try await store.devices(app: app, token: .numbered(1)).first)
            #expect(device.id == id)
            #expect(device.environment == .sandbox)
            #expect(try await self.events(store, app).map(\.environment) == [.production])
            #expect(try await store.register(1, app: app, environment: .sandbox) == id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aResponseAboutAReplacedTokenMovesNothing(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app, environment: .production) { $0.installation = "phone" }
            try await store.register(2, app: app, environment: .production) { $0.installation = "phone" }
            for (token, environment) in [(1, PushEnvironment.production), (2, .sandbox)] {
                let notification = try await store.start(app: app, to: .tokens([.numbered(9)]))
                let claim = try await store.claimed()
                #expect(claim.notification.id == notification.id)
                try await store.commit(claim) { page in
                    page.tokenChanges = [
                        TokenStateChange(device: id, kind: .moved(to: .sandbox), token: .numbered(token))
                    ]
                    page.step = .last(claim)
                }
                let device = try #require(try await store.devices(app: app, token: .numbered(2)).first)
                #expect(device.environment == environment)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aResponseAboutAReplacedTokenSaysNothingOfTheNext(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { $0.installation = "phone" }
            try await store.register(2, app: app) { $0.installation = "phone" }
            let before = try await self.events(store, app).count
            let notification = try await store.start(app: app, to: .tokens([.numbered(9)]))
            let claim = try await store.claimed()
            #expect(claim.notification.id == notification.id)
            let kinds: [TokenStateChange.Kind] = [
                .suspected, .withheld(since: self.later), .deactivated(since: self.later),
            ]
            try await store.commit(claim) { page in
                page.tokenChanges = kinds.map { TokenStateChange(device: id, kind: $0, token: .numbered(1)) }
                page.step = .last(claim)
            }
            let device = try #require(try await store.devices(app: app, token: .numbered(2)).first)
            #expect(device.id == id)
            #expect(device.isActive)
            #expect(device.suspicions == 0)
            #expect(try await self.events(store, app).count == before)
        }
    }

    /// The other environment has this token, or this installation, as a device of its own.
    @Test(arguments: StoreBackend.available, [true, false])
    func aTokenThatIsKnownInTheOtherEnvironmentGivesWay(backend: StoreBackend, byToken: Bool) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app, environment: .production) { $0.installation = "phone" }
            let known = try await store.register(byToken ? 1 : 2, app: app, environment: .sandbox) { registration in
                if !byToken { registration.installation = "phone" }
            }
            try await store.apply(.moved(to: .sandbox), to: id, app: app)
            let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 10)
            #expect(devices.filter(\.isActive).map(\.id) == [known])
            #expect(devices.count == 2)
        }
    }

    @Test(arguments: StoreBackend.available, [true, false])
    func withheldDeactivationsAreSettledByAnOperator(backend: StoreBackend, deactivates: Bool) async throws {
        try await backend.withStore { store, app in
            let first = try await store.register(1, app: app)
            try await store.register(2, app: app)
            let third = try await store.register(3, app: app)
            let elsewhere = try await store.register(4, app: app, environment: .production)
            var health = EnvironmentHealth()
            health.breakerOpenSince = self.now
            health.breakerReason = "too many at once"
            try await store.setHealth(health, app: app, environment: .sandbox)
            for id in [first, third, elsewhere] {
                try await store.apply(.withheld(since: self.later), to: id, app: app, reason: "Unregistered")
            }
            // It comes back before the decision.
            try await store.register(3, app: app, now: self.later)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == 4)
            func settle() async throws -> Int {
                try await store.settleWithheld(
                    app: app,
                    environment: .sandbox,
                    deactivates: deactivates,
                    now: self.later
                )
            }
            #expect(try await settle() == 2)
            #expect(try await settle() == 0)
            #expect(try await store.count(app: app, audience: .everyone, environment: nil) == (deactivates ? 3 : 4))
            #expect(try await store.health(app: app, environment: .sandbox) == EnvironmentHealth())
            let events = try await self.events(store, app)
            #expect(events.filter { $0.action == .withheld }.map(\.device) == [elsewhere])
            #expect(events.filter { $0.action == .settled }.map(\.device) == [third, first])
            #expect(events.filter { $0.action == .deactivated }.map(\.device) == (deactivates ? [first] : []))
            #expect(events.filter { $0.action == .keptAlive }.map(\.device) == (deactivates ? [third] : []))
        }
    }

    @Test(arguments: StoreBackend.available)
    func tokenEventsAreListedNewestFirstInPages(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let ids = [try await store.register(1, app: app), try await store.register(2, app: app)]
            for round in 0..<6 { try await store.apply(.suspected, to: ids[round % 2], app: app) }
            var (found, before) = ([TokenEventRecord](), Int64?.none)
            while true {
                let page = try await store.tokenEvents(app: app, token: nil, action: nil, before: before, limit: 4)
                found += page
                guard let last = page.last else { break }
                before = last.id
            }
            #expect(found.count == 6)
            #expect(found.map(\.id) == found.map(\.id).sorted(by: >))
            let one = try await store.tokenEvents(
                app: app,
                token: .numbered(1),
                action: .suspected,
                before: nil,
                limit: 10
            )
            #expect(one.map(\.device) == [ids[0], ids[0], ids[0]])
            #expect(try await store.tokenEvents(app: app + 1, token: nil, action: nil, before: nil, limit: 9).isEmpty)
        }
    }

    private func events(_ store: any ProviderStore, _ app: Int64) async throws -> [TokenEventRecord] {
        try await store.tokenEvents(app: app, token: nil, action: nil, before: nil, limit: 100)
    }

    @Test(arguments: StoreBackend.available)
    func anEnvironmentIsProvenOnceForACredential(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await store.health(app: app, environment: .sandbox).provenAt == nil)
            for at in [self.now, self.now.advanced(by: .seconds(60))] {
                try await store.setProven(app: app, environment: .sandbox, epoch: 0, at: at)
            }
            var health = EnvironmentHealth()
            health.breakerOpenSince = self.now
            health.breakerReason = "why"
            try await store.setHealth(health, app: app, environment: .sandbox)
            let stored = try await store.health(app: app, environment: .sandbox)
            #expect(stored.provenAt == self.now)
            #expect(stored.breakerReason == "why")
            let key = CredentialRecord.key(teamID: "team", keyID: "key", privateKey: "PEM")
            try await store.setCredential(key, app: app, environment: .sandbox)
            #expect(try await store.health(app: app, environment: .sandbox) == EnvironmentHealth(epoch: 1))
            // What the old one led to comes too late.
            try await store.setProven(app: app, environment: .sandbox, epoch: 0, at: self.now)
            try await store.setHealth(health, app: app, environment: .sandbox)
            #expect(try await store.health(app: app, environment: .sandbox) == EnvironmentHealth(epoch: 1))
        }
    }

    @Test(arguments: StoreBackend.available)
    func theFirstDeviceOfATimeIsFound(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let bound = try await store.firstDevice(addedSince: self.now)
            var ids: [Int64] = []
            for number in 0..<20 {
                let at = self.now.advanced(by: .seconds(Int64(number)))
                ids.append(try await store.register(number, app: app, now: at))
            }
            _ = try await store.deleteDevices(app: app, token: .numbered(10), environment: nil, now: self.now)
            for (number, id) in ids.enumerated().dropFirst() {
                let first = try await store.firstDevice(addedSince: self.now.advanced(by: .seconds(Int64(number))))
                #expect(first > ids[number == 11 ? 9 : number - 1] && first <= id)
            }
            #expect(bound <= ids[0], "the next device is later than the time that was asked for")
            let next = try await store.firstDevice(addedSince: self.now.advanced(by: .seconds(20)))
            #expect(next > ids[19])
            #expect(try await store.register(20, app: app, now: self.now.advanced(by: .seconds(20))) >= next)
        }
    }
}
