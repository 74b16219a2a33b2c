import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The badge counts that notifications change: those of the recipients that are sent to.
@Suite(.timeLimit(.patience)) struct BadgeCountTests {
    private func badge(_ fixture: DispatchFixture) async throws -> Int {
        try await fixture.store.badge(app: fixture.app, holder: BadgeHolder.user("alice"))
    }

    @Test(arguments: StoreBackend.available)
    func whatHasExpiredDoesNotCount(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.user = .set("alice") }
            let notification = try await fixture.accept(["badge": ["increment": 1], "expiresIn": 60])
            try await fixture.settle(after: .seconds(61))
            try await fixture.store.expect(notification, .done, failed: 1)
            #expect(try await self.badge(fixture) == 0)
        }
    }

    /// A token of an environment without a credential cannot be sent to.
    @Test(arguments: StoreBackend.available)
    func whatFailsUnsentDoesNotCount(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1, in: .production) { $0.user = .set("alice") }
            let notification = try await fixture.accept(["badge": ["increment": 1]])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, failed: 1)
            #expect(try await self.badge(fixture) == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsHeldBackCountsOnceItIsSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.user = .set("alice") }
            _ = try await fixture.store.removeCredential(app: fixture.app, environment: .sandbox)
            fixture.directory.forget(app: fixture.app)
            let notification = try await fixture.accept(["badge": ["increment": 1]])
            try await fixture.settle()
            try await fixture.store.expect(notification, retrying: 1)
            #expect(try await self.badge(fixture) == 0)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let key = CredentialRecord.key(
                teamID: Vectors.teamID,
                keyID: Vectors.keyID,
                privateKey: Vectors.privateKey
            )
            try await fixture.store.setCredential(key, app: fixture.app, environment: .sandbox)
            fixture.directory.forget(app: fixture.app)
            try await fixture.faults.credentialChanged(AppEnvironment(app: fixture.app, environment: .sandbox))
            try await fixture.settle()
            #expect(try await self.badge(fixture) == 1)
            try await fixture.settle(after: .seconds(61))
            try await fixture.store.expect(notification, .done, accepted: 1)
            #expect(try await self.badge(fixture) == 1)
        }
    }
}
