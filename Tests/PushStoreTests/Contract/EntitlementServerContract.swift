import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``EntitlementServerStore``.
@Suite(.timeLimit(.patience)) struct EntitlementServerContract: StoreContract {
    private func server(_ app: Int64, secret: String = "first") -> EntitlementServerRecord {
        EntitlementServerRecord(
            app: app,
            url: "https://publisher.example.com:443/a",
            form: .xml,
            whenDown: .refuse,
            secret: secret,
            changedAt: self.now
        )
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasOneServer(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await store.entitlementServer(app: app) == nil)
            #expect(try await store.removeEntitlementServer(app: app) == false)
            let first = self.server(app)
            #expect(try await store.setEntitlementServer(first, keepsSecret: true) == first)
            #expect(try await store.entitlementServer(app: app) == first)
            let second = self.server(app, secret: "second")
            let kept = try await store.setEntitlementServer(second, keepsSecret: true)
            #expect(kept.secret == "first" && kept.revision == second.revision)
            #expect(try await store.entitlementServer(app: app) == kept)
            #expect(try await store.setEntitlementServer(second, keepsSecret: false) == second)
            #expect(try await store.entitlementServer(app: app) == second)
            #expect(try await store.entitlementServer(app: app + 1) == nil)
            #expect(try await store.removeEntitlementServer(app: app))
            #expect(try await store.entitlementServer(app: app) == nil)
            // A secret that was removed does not come back.
            #expect(try await store.setEntitlementServer(second, keepsSecret: true).secret == "second")
        }
    }

    @Test(arguments: StoreBackend.available)
    func itGoesWithItsApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.setEntitlementServer(self.server(app), keepsSecret: true)
            _ = try await store.eraseApp(app, now: self.now, steady: self.now)
            #expect(try await store.entitlementServer(app: app) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPublicationKeepsItsSubscriptions(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var publication = PublicationRecord(id: UUID(), app: app, name: "The Example", createdAt: self.now)
            publication.subscriptionProducts = ["com.example.yearly", "com.example.monthly"]
            _ = try await store.addPublication(publication)
            let stored = try await store.publication(publication.id)
            #expect(stored == publication)
            var changes = PublicationChanges()
            changes.name = "Another"
            let renamed = try await store.changePublication(publication.id, changes)
            #expect(renamed?.subscriptionProducts == publication.subscriptionProducts)
            changes.subscriptionProducts = []
            _ = try await store.changePublication(publication.id, changes)
            let emptied = try await store.publication(publication.id)
            #expect(emptied?.subscriptionProducts.isEmpty == true)
        }
    }
}
