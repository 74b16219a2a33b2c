import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Notifications for both environments after the credential of one was removed.
@Suite(.timeLimit(.patience)) struct RemovedCredentialTests {
    private static let environment = PushEnvironment.production

    /// Removes the credential of one of two environments, and accepts a notification for both.
    private func run(
        _ backend: StoreBackend,
        _ members: [String: JSONValue] = [:],
        _ body: (DispatchFixture, NotificationRecord) async throws -> Void
    ) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, Self.environment]) { fixture in
            try await fixture.register(1...5)
            try await fixture.register(6...10, in: Self.environment)
            _ = try await fixture.store.removeCredential(app: fixture.app, environment: Self.environment)
            fixture.directory.forget(app: fixture.app)
            let notification = try await fixture.accept(members)
            try await fixture.settle()
            let progress = try await fixture.progress(of: notification).progress
            #expect((progress.accepted, progress.failed, progress.retrying) == (5, 0, 5))
            try await body(fixture, notification)
        }
    }

    @Test(arguments: StoreBackend.available)
    func itsEnvironmentIsHeldBackUntilThereIsAnother(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, notification in
            let target = AppEnvironment(app: fixture.app, environment: Self.environment)
            let pauses = try await fixture.store.environmentPauses()
            #expect(pauses.map(\.target) == [target])
            #expect(pauses.map(\.fault.cause) == [.credentialMissing])
            let key = CredentialRecord.key(
                teamID: Vectors.teamID,
                keyID: Vectors.keyID,
                privateKey: Vectors.privateKey
            )
            try await fixture.store.setCredential(key, app: fixture.app, environment: Self.environment)
            fixture.directory.forget(app: fixture.app)
            try await fixture.faults.credentialChanged(target)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 10, recipients: 10)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatExpiresMeanwhileNamesTheCause(backend: StoreBackend) async throws {
        try await self.run(backend, ["expiresIn": 600]) { fixture, notification in
            try await fixture.settle(after: .seconds(601))
            try await fixture.store.expect(notification, .done, accepted: 5, failed: 5)
            let failed = try await fixture.deliveries(of: notification).filter { $0.state == .failed }
            #expect(failed.allSatisfy { $0.reason?.hasPrefix("expired before it could be sent") == true })
            #expect(failed.allSatisfy { $0.reason?.contains("no credential for production") == true })
        }
    }
}
