import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The devices that each kind of condition selects.
@Suite(.timeLimit(.patience)) struct AudienceContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func identitiesChooseByEquality(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            try await population.expect(.everyone, [1, 2, 3, 4, 5, 6])
            try await population.expect(.token(.numbered(3)), [3])
            try await population.expect(.user("alice"), [1, 2])
            try await population.expect(.user("Alice"), [])
            try await population.expect(.tag("beta"), [1, 3])
            try await population.expect(.timeZone("Europe/Berlin"), [1])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aLanguageChoosesItsRegionsToo(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            try await population.expect(.locale("pt"), [1, 2])
            try await population.expect(.locale("PT-br"), [1])
            try await population.expect(.locale("pt_BR"), [1])
            try await population.expect(.locale("p"), [])
            try await population.expect(.locale("zh-Hant"), [4])
            try await population.expect(.locale("zh"), [4])
            try await population.expect(.locale("ptx"), [3])
        }
    }

    @Test(arguments: StoreBackend.available)
    func versionsCompareByTheirParts(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            func expect(_ comparison: AudienceExpression.Comparison, _ text: String, _ numbers: [Int]) async throws {
                let version = try #require(AppVersion(text))
                try await population.expect(.appVersion(comparison, version), numbers)
            }
            try await expect(.above, "2.9", [1, 3])
            try await expect(.atLeast, "2.9", [1, 2, 3])
            try await expect(.below, "2.10", [2])
            try await expect(.atMost, "2.10.0", [1, 2])
            try await expect(.equal, "2.10", [1])
            let version = try #require(AppVersion("2.9"))
            try await population.expect(.not(.appVersion(.above, version)), [2, 4, 5, 6])
        }
    }

    @Test(arguments: StoreBackend.available)
    func numbersCompareWithNumbersAndTextsWithTexts(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            func expect(_ comparison: AudienceExpression.Comparison, _ value: JSONValue, _ numbers: [Int]) async throws
            {
                try await population.expect(.attribute(name: "size", comparison, value), numbers)
            }
            // 1: 10, 2: 9.5, 3: "10", 4: true, 5: "true", 6: none
            try await expect(.equal, .integer(10), [1])
            try await expect(.equal, .number(10), [1])
            try await expect(.equal, .string("10"), [3])
            try await expect(.atLeast, .integer(0), [1, 2])
            try await expect(.below, .integer(10), [2])
            try await expect(.above, .number(9.25), [1, 2])
            try await expect(.atLeast, .string(""), [3, 5])
            try await expect(.below, .string("2"), [3])
            try await expect(.equal, .bool(true), [4])
            try await expect(.equal, .bool(false), [])
            try await expect(.equal, .string("true"), [5])
            try await population.expect(.hasAttribute("size"), [1, 2, 3, 4, 5])
            try await population.expect(.not(.hasAttribute("size")), [6])
        }
    }

    @Test(arguments: StoreBackend.available)
    func lastSeenComparesTimes(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            func at(_ number: Int) -> Timestamp { self.now.advanced(by: .seconds(number)) }
            try await population.expect(.lastSeen(.atLeast, at(5)), [5, 6])
            try await population.expect(.lastSeen(.below, at(2)), [1])
            try await population.expect(.lastSeen(.equal, at(2)), [2])
        }
    }

    @Test(arguments: StoreBackend.available)
    func conditionsAreCombined(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            let (alice, beta) = (AudienceExpression.user("alice"), AudienceExpression.tag("beta"))
            try await population.expect(.and([alice, beta]), [1])
            try await population.expect(.or([alice, beta]), [1, 2, 3])
            try await population.expect(.not(alice), [3, 4, 5, 6])
            try await population.expect(.not(.not(alice)), [1, 2])
            try await population.expect(.not(.locale("pt")), [3, 4, 5, 6])
            try await population.expect(.and([]), [1, 2, 3, 4, 5, 6])
            try await population.expect(.or([]), [])
            try await population.expect(.and([.not(alice), .or([beta, .token(.numbered(4))])]), [3, 4])
            try await population.expect(.not(.everyone), [])
        }
    }

    @Test(arguments: StoreBackend.available)
    func anotherAppsDevicesAreNeverChosen(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            let bundleID = try #require(Topic("b"))
            let other = try await population.store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let others = Population(store: population.store, app: other)
            for expression: AudienceExpression in [
                .everyone, .user("alice"), .tag("beta"), .hasAttribute("size"), .locale("pt"), .not(.user("x")),
            ] {
                try await others.expect(expression, [])
            }
        }
    }

    /// The limit counts devices of this environment, however many of the other one come first.
    @Test(arguments: StoreBackend.available)
    func devicesOfOneEnvironmentAreListed(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            let (store, app) = (population.store, population.app)
            let ids = [
                try await store.register(7, app: app, environment: .production) { $0.tags = ["beta"] },
                try await store.register(8, app: app, environment: .production) { $0.tags = ["beta"] },
            ]
            for audience: AudienceExpression in [.everyone, .tag("beta")] {
                func listed(after: Int64 = 0, limit: Int) async throws -> [Int64] {
                    try await store.devices(
                        app: app,
                        audience: audience,
                        environment: .production,
                        kind: nil,
                        after: after,
                        limit: limit
                    ).map(\.id)
                }
                #expect(try await listed(limit: 2) == ids)
                #expect(try await listed(limit: 1) == [ids[0]])
                #expect(try await listed(after: ids[0], limit: 9) == [ids[1]])
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func onlyActiveDevicesAreCounted(backend: StoreBackend) async throws {
        try await self.withDevices(backend) { population in
            let (store, app) = (population.store, population.app)
            let id = try #require(try await store.devices(app: app, token: .numbered(1)).first).id
            try await store.apply(.deactivated(since: self.now.advanced(by: .seconds(99))), to: id, app: app)
            #expect(try await store.count(app: app, audience: .user("alice"), environment: nil) == 1)
            #expect(try await store.count(app: app, audience: .everyone, environment: .sandbox) == 5)
            #expect(try await store.count(app: app, audience: .everyone, environment: .production) == 0)
            let listed = try await store.devices(app: app, audience: .user("alice"), after: 0, limit: 10)
            #expect(listed.map(\.isActive) == [false, true])
            #expect(try await store.devices(app: app, audience: .user("alice"), after: id, limit: 10).count == 1)
        }
    }

    /// Six devices, registered a second apart.
    private func withDevices(_ backend: StoreBackend, _ body: (Population) async throws -> Void) async throws {
        let locales = ["pt-BR", "pt", "ptx", "zh_Hant_TW", nil, "de"]
        let versions = ["2.10", "2.9", "3", nil, "beta", nil]
        let sizes: [JSONValue?] = [.integer(10), .number(9.5), .string("10"), .bool(true), .string("true"), nil]
        try await backend.withStore { store, app in
            for number in 1...6 {
                try await store.register(number, app: app, now: self.now.advanced(by: .seconds(number))) {
                    registration in
                    registration.user = number <= 2 ? .set("alice") : nil
                    registration.tags = number.isMultiple(of: 2) ? ["other"] : number < 5 ? ["beta", "other"] : []
                    registration.locale = locales[number - 1].map { .set($0) }
                    registration.appVersion = versions[number - 1].map { .set($0) }
                    registration.timeZone = number == 1 ? .set("Europe/Berlin") : nil
                    if let size = sizes[number - 1] { registration.attributes["size"] = .set(size) }
                }
            }
            try await body(Population(store: store, app: app))
        }
    }
}

/// Devices to select from.
private struct Population {
    let store: any ProviderStore
    let app: Int64

    /// Checks the numbers of the selected devices: the same by listing, counting and sending.
    func expect(
        _ expression: AudienceExpression,
        _ numbers: [Int],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let devices = try await self.store.devices(app: self.app, audience: expression, after: 0, limit: 100)
        #expect(devices.map { Int($0.token.bytes.last ?? 0) } == numbers, sourceLocation: sourceLocation)
        let count = try await self.store.count(app: self.app, audience: expression, environment: nil)
        #expect(count == numbers.count, sourceLocation: sourceLocation)
        let notification = try await self.store.start(app: self.app, to: .devices(expression)) {
            $0.progress.recipients = count
        }
        let recipients = try await self.store.readAll(try await self.store.claimed(), page: 2)
        #expect(recipients.map(\.device) == devices.map(\.id), sourceLocation: sourceLocation)
        _ = try await self.store.setState(.cancel, of: notification.id, now: Vectors.issuedAt)
    }
}
