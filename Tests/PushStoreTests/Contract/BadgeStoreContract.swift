import ProviderModel
import PushStore
import PushTesting
import Testing

/// The contract of the badge counts of every ``UserStore``.
@Suite(.timeLimit(.patience)) struct BadgeStoreContract {
    @Test(arguments: StoreBackend.available)
    func aNotificationChangesACountOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.start(app: app)
            _ = try await store.start(app: app)
            let first = try await store.claimed().notificationNumber
            let second = try await store.claimed().notificationNumber
            func change(_ notification: Int64, by increment: Int = 1, _ holders: [BytewiseString]) async throws
                -> [BytewiseString: Int]
            {
                try await store.changeBadges(by: increment, notification: notification, app: app, holders: holders)
            }
            #expect(try await change(first, ["alice", "bob", "alice"]) == ["alice": 1, "bob": 1])
            #expect(try await change(first, ["alice"]) == ["alice": 1], "a second try shows the same")
            #expect(try await change(second, ["alice", "carol"]) == ["alice": 2, "carol": 1])
            #expect(try await change(first, ["alice"]) == ["alice": 1])
            #expect(try await store.badge(app: app, holder: "alice") == 2)
            try await store.setBadge(0, app: app, holder: "alice")
            #expect(try await store.badge(app: app, holder: "alice") == 0)
            #expect(try await store.badge(app: app, holder: "nobody") == 0)
            #expect(try await store.badge(app: app + 1, holder: "bob") == 0)
            #expect(try await change(first, []).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCountStaysWithinItsBounds(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for increment in [-5, .min, .max, .max] {
                _ = try await store.start(app: app)
                let number = try await store.claimed().notificationNumber
                let counts = try await store.changeBadges(
                    by: increment,
                    notification: number,
                    app: app,
                    holders: ["alice"]
                )
                let count = try #require(counts["alice"])
                #expect(increment < 0 ? count == 0 : count > 0)
                #expect(count <= Int(Int32.max))
            }
        }
    }
}
