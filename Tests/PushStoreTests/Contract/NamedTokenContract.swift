import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// Tokens that another system names, and their tags.
@Suite(.timeLimit(.patience)) struct NamedTokenContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aTokenIsRegisteredInEachEnvironment(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            try await store.register(1, app: app, environment: .production) { $0.kind = .voip }
            try await store.register(2, app: app)
            _ = try await store.deleteDevices(app: app, token: .numbered(2), environment: nil, now: self.now)
            let registrations = try await store.registrations(app: app, tokens: [1, 2, 3].map(DeviceToken.numbered))
            #expect(registrations.keys.map(\.self) == [.numbered(1)])
            let both = Set(registrations[.numbered(1)] ?? [])
            #expect(
                both == [
                    NamedTokenRegistration(environment: .sandbox, kind: .alert, isActive: true),
                    NamedTokenRegistration(environment: .production, kind: .voip, isActive: true),
                ]
            )
            #expect(try await store.registrations(app: app + 1, tokens: [.numbered(1)]).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTagIsSetWithoutARegistration(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { registration in
                (registration.installation, registration.tags) = ("installation", ["vip"])
            }
            try await store.register(2, app: app) { registration in
                (registration.installation, registration.kind) = ("installation", .voip)
            }
            let before = try await store.devices(app: app, token: .numbered(1)).first
            let tokens = [1, 9].map(DeviceToken.numbered)
            #expect(try await store.setTag("topic:a", isSet: true, of: tokens, app: app) == [.changed, .noDevice])
            #expect(try await store.setTag("topic:a", isSet: true, of: [.numbered(2)], app: app) == [.unchanged])
            let after = try await store.devices(app: app, token: .numbered(1)).first
            #expect(after?.profile.tags == ["vip", "topic:a"])
            #expect(after?.registeredAt == before?.registeredAt)
            let sibling = try await store.devices(app: app, token: .numbered(2)).first
            #expect(sibling?.profile.tags.contains("topic:a") == true, "devices of one installation share their tags")
            #expect(try await store.setTag("topic:a", isSet: false, of: tokens, app: app) == [.changed, .noDevice])
            #expect(try await store.setTag("topic:a", isSet: false, of: [.numbered(1)], app: app) == [.unchanged])
            #expect(try await store.devices(app: app, token: .numbered(1)).first?.profile.tags == ["vip"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func tagsStayWithinTheirBound(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let all = Set((1...DeviceLimits.tags).map { BytewiseString("tag\($0)") })
            try await store.register(1, app: app) { $0.tags = all }
            let changes = try await store.setTag("topic:a", isSet: true, of: [.numbered(1)], app: app)
            guard case .excess? = changes.first else {
                Issue.record("\(changes)")
                return
            }
            #expect(try await store.setTag("tag1", isSet: true, of: [.numbered(1)], app: app) == [.unchanged])
        }
    }
}

/// The reports about bridges in shadow mode.
@Suite(.timeLimit(.patience)) struct ShadowContract: StoreContract {
    private func comparison(_ count: Int) -> ShadowComparison {
        var comparison = ShadowComparison()
        comparison.differences = (0..<count).map {
            ShadowDifference(at: self.now, subject: "token", field: "\($0)", ours: "a", theirs: "b")
        }
        return comparison
    }

    @Test(arguments: StoreBackend.available)
    func requestsAreCountedAndTheNewestDifferencesKept(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let none = try await store.shadow(.gorush, name: "default", app: app)
            #expect(none == nil)
            for count in [0, 3] + Array(repeating: ShadowComparison.maximumDifferences + 5, count: 11) {
                let comparison = self.comparison(count)
                try await store.addShadow(comparison, of: .gorush, name: "default", app: app, now: self.now)
            }
            try await store.addShadow(self.comparison(1), of: .fcm, name: "default", app: app, now: self.now)
            let report = try #require(try await store.shadow(.gorush, name: "default", app: app))
            #expect(report.since == self.now && report.requests == 13 && report.agreements == 1)
            #expect(report.differences.count == ShadowReport.maximumDifferences)
            #expect(report.differences.first?.field == "\(ShadowComparison.maximumDifferences - 1)", "the newest first")
            try await store.clearShadow(.gorush, name: "default", app: app)
            let cleared = try await store.shadow(.gorush, name: "default", app: app)
            #expect(cleared == nil)
            #expect(try await store.shadow(.fcm, name: "default", app: app)?.requests == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aReportLeavesWithItsBridge(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let bridge = BridgeRecord(kind: .gorush, name: "default", app: app, changedAt: self.now)
            guard case .done = try await store.setBridge(bridge, keepsSecret: false) else { throw NothingToClaim() }
            try await store.addShadow(self.comparison(1), of: .gorush, name: "default", app: app, now: self.now)
            let other = try await store.removeBridge(.gorush, name: "default", app: app + 1)
            #expect(!other)
            #expect(try await store.shadow(.gorush, name: "default", app: app) != nil)
            let removed = try await store.removeBridge(.gorush, name: "default", app: app)
            #expect(removed)
            #expect(try await store.shadow(.gorush, name: "default", app: app) == nil)
        }
    }
}
