import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// What is kept of apps, and forgotten when they change.
@Suite(.timeLimit(.patience)) struct AppCacheTests {
    let now = Vectors.issuedAt

    private func withStore(_ body: (SQLStore, AppRecord) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            #expect(try await store.app(bundleID: bundleID) == nil, "that there is none is kept too")
            try await body(store, try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app)
        }
    }

    @Test func everyChangeOfAnAppIsSeen() async throws {
        try await self.withStore { store, app in
            #expect(try await store.app(bundleID: app.bundleID)?.id == app.id)
            #expect(try await store.app(id: app.id)?.name == nil)
            _ = try await store.changeApp(app.id, AppChanges(name: .set("New")))
            #expect(try await store.app(bundleID: app.bundleID)?.name == "New")
            #expect(try await store.app(id: app.id)?.name == "New")
            // Whatever statement makes it.
            try await store.database.run(sql: "UPDATE app SET name = 'Newer' WHERE id = ?", [app.id])
            #expect(try await store.app(id: app.id)?.name == "Newer")
            try await store.database.write { _ = try $0.run(sql: "UPDATE app SET rate = 7 WHERE id = ?", app.id) }
            #expect(try await store.app(id: app.id)?.rate == 7)
            _ = try await store.eraseApp(app.id, now: self.now, steady: self.now)
            #expect(try await store.app(bundleID: app.bundleID) == nil)
        }
    }

    @Test func aCredentialIsSeenAtOnceAndItsRemovalToo() async throws {
        try await self.withStore { store, app in
            #expect(try await store.environments(app: app.id) == [])
            let credential = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(credential, app: app.id, environment: .sandbox)
            #expect(try await store.environments(app: app.id) == [.sandbox])
            _ = try await store.removeCredential(app: app.id, environment: .sandbox)
            #expect(try await store.environments(app: app.id) == [])
        }
    }

    @Test func aStopIsSeenAtOnceAndItsEndToo() async throws {
        try await self.withStore { store, app in
            #expect(try await store.stop(of: app.id) == nil)
            _ = try await store.stop(AppStop(app: app.id, since: self.now, reason: "why", by: nil))
            #expect(try await store.stop(of: app.id)?.reason == "why")
            _ = try await store.resumeApp(app.id)
            #expect(try await store.stop(of: app.id) == nil)
        }
    }

    @Test func aWebhookIsSeenAtOnceAndItsEndToo() async throws {
        try await self.withStore { store, app in
            func wants() async throws -> Bool { try await store.wants(.delivery, app: app.id) }
            #expect(try await wants() == false)
            let webhook = WebhookRecord(
                id: UUID(),
                app: app.id,
                url: "https://example.com/hook",
                secret: "secret",
                events: [.delivery],
                createdAt: self.now
            )
            try await store.addWebhook(webhook)
            #expect(try await wants())
            try await store.database.run(sql: "UPDATE webhook SET isActive = 0")
            #expect(try await wants() == false)
            try await store.database.run(sql: "UPDATE webhook SET isActive = 1")
            #expect(try await wants())
            _ = try await store.deleteWebhook(webhook.id)
            #expect(try await wants() == false)
        }
    }

    @Test func whatATransactionHasChangedThatFailedStaysAsItWas() async throws {
        try await self.withStore { store, app in
            #expect(try await store.app(id: app.id)?.name == nil)
            await #expect(throws: NothingToClaim.self) {
                try await store.database.write { database in
                    try database.execute(sql: "UPDATE app SET name = 'lost'")
                    throw NothingToClaim()
                }
            }
            let name = try await store.app(id: app.id)?.name
            #expect(name == nil)
        }
    }

    /// A value that was read before a change is not kept after it.
    @Test func whatWasReadBeforeAChangeIsNotKept() async throws {
        let cache = AppCache()
        let old = try await cache.value(.environments(app: 1)) {
            cache.forget()
            return 1
        }
        #expect(old == 1)
        #expect(try await cache.value(.environments(app: 1)) { 2 } == 2)
        #expect(try await cache.value(.environments(app: 1)) { 3 } == 2)
    }
}
