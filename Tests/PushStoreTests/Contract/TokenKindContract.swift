import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The contract of every store about kinds of tokens (docs/decisions/0021).
@Suite(.timeLimit(.patience)) struct TokenKindContract {
    let now = Vectors.issuedAt

    /// Registers a token of the installation `i`.
    @discardableResult
    private func register(
        _ number: Int,
        _ kind: DeviceTokenKind?,
        activity: String? = nil,
        in store: any ProviderStore,
        app: Int64,
        _ change: (inout DeviceRegistration) -> Void = { _ in }
    ) async throws -> Int64 {
        try await store.register(number, app: app) { registration in
            (registration.kind, registration.activity, registration.installation) = (kind, activity, "i")
            change(&registration)
        }
    }

    private func all(_ store: any ProviderStore, app: Int64) async throws -> [DeviceRecord] {
        try await store.devices(app: app, audience: .everyone, after: 0, limit: 100)
    }

    @Test(arguments: StoreBackend.available)
    func anInstallationHasATokenOfEachKind(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app)
            try await self.register(2, .voip, in: store, app: app)
            try await self.register(3, .liveActivityUpdate, activity: "a", in: store, app: app)
            try await self.register(4, .liveActivityUpdate, activity: "b", in: store, app: app)
            let devices = try await self.all(store, app: app)
            #expect(devices.map(\.kind) == [.alert, .voip, .liveActivityUpdate, .liveActivityUpdate])
            #expect(devices.map(\.activity) == [nil, nil, "a", "b"])
            #expect(try await store.tokenKinds(app: app) == [.alert, .voip, .liveActivityUpdate])
            // A new token replaces the one of its kind and activity.
            try await self.register(5, .voip, in: store, app: app)
            try await self.register(6, .liveActivityUpdate, activity: "b", in: store, app: app)
            let tokens = try await self.all(store, app: app).map(\.token)
            #expect(tokens == [.numbered(1), .numbered(5), .numbered(3), .numbered(6)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenKeepsItsKindUntilARegistrationNamesAnother(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { $0.kind = .voip }
            try await store.register(1, app: app) { $0.user = .set("alice") }
            #expect(try await self.all(store, app: app).map(\.kind) == [.voip])
            let again = try await store.register(1, app: app) { $0.kind = .pushToTalk }
            #expect(again == id)
            #expect(try await self.all(store, app: app).map(\.kind) == [.pushToTalk])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenMovesToTheDeviceOfItsKind(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app) { $0.user = .set("alice") }
            let voip = try await self.register(2, .voip, in: store, app: app)
            // What was taken for an alert token is the new VoIP token.
            #expect(try await self.register(1, .voip, in: store, app: app) == voip)
            let devices = try await self.all(store, app: app)
            #expect(devices.map(\.token) == [.numbered(1)])
            #expect(devices.first?.kind == .voip)
            #expect(devices.first?.profile.user == "alice")
            // The same without naming the installation, which is known by the token.
            try await self.register(3, nil, in: store, app: app)
            try await store.register(3, app: app) { $0.kind = .voip }
            #expect(try await self.all(store, app: app).map(\.token) == [.numbered(3)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theTokensOfAnInstallationShareTheirProfile(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app) { registration in
                registration.user = .set("alice")
                registration.timeZone = .set("Europe/Berlin")
                registration.locale = .set("de")
                registration.appVersion = .set("2.1")
                registration.capabilities = [.alert]
                registration.tags = ["beta"]
                registration.attributes = ["plan": .set(.string("pro")), "age": .set(.integer(30))]
            }
            // It fills what it leaves out, and gives the others what it names.
            try await self.register(2, .voip, in: store, app: app) { registration in
                registration.locale = .set("pt")
                registration.attributes = ["age": .set(.integer(31)), "vip": .set(.bool(true))]
            }
            var profiles = try await self.all(store, app: app).map(\.profile)
            #expect(profiles.count == 2)
            #expect(profiles[0] == profiles[1])
            #expect(profiles[0].user == "alice")
            #expect(profiles[0].locale == "pt")
            #expect(profiles[0].tags == ["beta"])
            let attributes: [String: JSONValue] = ["plan": "pro", "age": .integer(31), "vip": .bool(true)]
            #expect(profiles[0].attributes == attributes)
            for audience in [AudienceExpression.user("alice"), .tag("beta"), .timeZone("Europe/Berlin")] {
                #expect(try await store.count(app: app, audience: audience, environment: nil, kind: .voip) == 1)
            }
            let isOlder = AudienceExpression.attribute(name: "age", .above, .integer(30))
            #expect(try await store.count(app: app, audience: isOlder, environment: nil, kind: nil) == 2)
            // Logged out by one token, logged out by all.
            try await self.register(1, nil, in: store, app: app) { registration in
                registration.user = .clear
                registration.tags = []
                registration.attributes = ["plan": .clear]
            }
            profiles = try await self.all(store, app: app).map(\.profile)
            #expect(profiles[0] == profiles[1])
            #expect(profiles[1].user == nil)
            #expect(profiles[1].tags == [])
            #expect(profiles[1].attributes["plan"] == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenThatJoinsAnInstallationGetsItsProfile(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app) { $0.user = .set("alice") }
            try await store.register(2, app: app) { registration in
                (registration.kind, registration.user, registration.tags) = (.voip, .set("bob"), ["old"])
            }
            try await self.register(2, .voip, in: store, app: app) { $0.attributes = ["new": .set(.bool(true))] }
            let profiles = try await self.all(store, app: app).map(\.profile)
            #expect(profiles[0] == profiles[1])
            #expect(profiles[1].user == "alice")
            #expect(profiles[1].tags == [])
            #expect(profiles[0].attributes == ["new": .bool(true)])
            // Another installation, and the same one in the other environment, have profiles of their own.
            try await store.register(3, app: app, environment: .production) { $0.installation = "i" }
            try await store.register(4, app: app) { $0.installation = "j" }
            #expect(try await store.count(app: app, audience: .user("alice"), environment: nil, kind: nil) == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatReturnsGetsTheProfileOfItsInstallation(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app) { $0.user = .set("alice") }
            let voip = try await self.register(2, .voip, in: store, app: app)
            // A notification in progress keeps what is deleted.
            _ = try await store.start(app: app)
            _ = try await store.deleteDevices(app: app, token: .numbered(2), environment: nil, now: self.now)
            try await self.register(1, nil, in: store, app: app) { $0.user = .set("bob") }
            #expect(try await self.register(3, .voip, in: store, app: app) == voip)
            let devices = try await self.all(store, app: app)
            #expect(devices.map(\.profile.user) == ["bob", "bob"])
            #expect(devices.map(\.token) == [.numbered(1), .numbered(3)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theOldestActivitiesGiveWay(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register(1, nil, in: store, app: app)
            var ids: [Int64] = []
            for number in 1...DeviceLimits.activities + 2 {
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(100 + number))
                registration.installation = "i"
                (registration.kind, registration.activity) = (.liveActivityUpdate, "\(number)")
                registration.tags = [BytewiseString("\(number)")]
                let results = try await store.register([registration], app: app, now: self.now)
                ids += results.map(\.device)
                // What is in memory for the one that gives way is out of date.
                let gone = number > DeviceLimits.activities ? [ids[number - DeviceLimits.activities - 1]] : []
                #expect(results.map(\.outdated) == [gone], "\(number)")
            }
            let devices = try await self.all(store, app: app)
            #expect(devices.count == DeviceLimits.activities + 1)
            #expect(devices.dropFirst().first?.activity == "3")
            let newest = BytewiseString("\(DeviceLimits.activities + 2)")
            #expect(devices.allSatisfy { $0.profile.tags == [newest] }, "the installation shares its tags")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNotificationGoesToTheTokensOfItsKind(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let alert = try await self.register(1, nil, in: store, app: app)
            let voip = try await self.register(2, .voip, in: store, app: app)
            let update = try await self.register(3, .liveActivityUpdate, activity: "a", in: store, app: app)
            for number in 10..<1500 { try await store.register(number, app: app) }
            for (kind, only) in [(DeviceTokenKind.voip, voip), (.liveActivityUpdate, update)] {
                let notification = try await store.start(app: app) { notification in
                    notification.content.tokenKind = kind
                    notification.progress.recipients = 1
                }
                let claim = try await store.claimed()
                #expect(try await store.readAll(claim, page: 100).map(\.id) == [only])
                #expect(claim.isNarrow, "it does not visit all devices")
                try await store.commit(claim) { $0.step = .last(claim) }
                #expect(try await store.current(notification).content.tokenKind == kind)
            }
            _ = try await store.start(app: app) { notification in
                notification.content.tokenKind = .alert
                notification.progress.recipients = 1491
            }
            let recipients = try await store.readAll(try await store.claimed(), page: 1000).map(\.id)
            #expect(recipients.count == 1491)
            #expect(recipients.first == alert)
            #expect(Set(recipients).isDisjoint(with: [voip, update]))
            let activity = AudienceExpression.and([.activity("a"), .everyone])
            #expect(
                try await store.count(app: app, audience: activity, environment: nil, kind: .liveActivityUpdate) == 1
            )
            #expect(try await store.count(app: app, audience: activity, environment: nil, kind: .alert) == 0)
            let voipOnly = try await store.devices(
                app: app,
                audience: .everyone,
                environment: .sandbox,
                kind: .voip,
                after: 0,
                limit: 10
            )
            #expect(voipOnly.map(\.id) == [voip])
            #expect(try await store.timeZones(app: app, kind: .voip) == [nil: 1])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNamedTokenOfAnotherKindIsNotAccepted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(2, app: app) { $0.kind = .voip }
            var notification = try NotificationRecord.fixture(
                app: app,
                to: .tokens([.numbered(1), .numbered(2)]),
                environment: .sandbox
            )
            notification.content.tokenKind = .alert
            let plans = [ShardPlan(notBefore: self.now)]
            let acceptance = try await store.accept(notification, shards: plans, idempotency: nil)
            #expect(acceptance == .tokenOfOtherKind(.numbered(2), .voip))
            #expect(try await store.notification(notification.id) == nil)
            notification.environment = .production
            #expect(
                try await store.accept(notification, shards: plans, idempotency: nil) == .accepted,
                "not registered there"
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenWhoseKindChangesMeanwhileIsSkipped(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            let notification = try await store.start(app: app, to: .tokens([.numbered(1)])) { notification in
                (notification.lane, notification.environment) = (.urgent, .sandbox)
                notification.content.tokenKind = .alert
            }
            let claim = try await store.claimed(lane: .urgent)
            try await store.register(1, app: app) { $0.kind = .voip }
            let page = try await store.page(claim, limit: 10, needs: [])
            #expect(page.recipients == [])
            #expect(page.ended.map(\.cause) == [.otherKind])
            #expect(page.ended.first?.recipient?.device == id)
            #expect(EndingCause.otherKind.state == .skipped)
            try await store.commit(claim) { result in
                result.deliveries = page.ended.map {
                    DeliveryResult(recipient: $0.id, device: id, state: .skipped, attempts: 0, at: self.now)
                }
                result.step = .last(claim)
            }
            try await store.expect(notification, .done, skipped: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRetryOfADeviceWhoseKindChangedEnds(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            _ = try await store.start(app: app) { $0.content.tokenKind = .alert }
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: id, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            try await store.register(1, app: app) { $0.kind = .voip }
            let until = self.now.advanced(by: .seconds(60))
            let due = try await store.dueRetries(
                lane: .bulk,
                now: self.now,
                until: until,
                limit: 10,
                from: ClaimFilter()
            )
            guard case .ended(let end)? = due.first?.recipients.first else {
                Issue.record("it is tried again")
                return
            }
            #expect(end.cause == .otherKind)
        }
    }
}
