import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Responses to pushes that were sent with a credential that has been replaced since.
@Suite(.timeLimit(.patience)) struct ReplacedCredentialTests {
    private static let key = CredentialRecord.key(
        teamID: Vectors.teamID,
        keyID: "NEWKEY1234",
        privateKey: Vectors.privateKey
    )

    /// The push is in flight when the credential is replaced.
    @Test(arguments: StoreBackend.available)
    func thatOneIsAcceptedDoesNotProveTheNextCredential(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.whileSending {
                try await fixture.store.setCredential(Self.key, app: fixture.app, environment: .sandbox)
                fixture.directory.forget(app: fixture.app)
                fixture.invalidation.forget(app: fixture.app)
            }
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1)
            #expect(try await fixture.store.health(app: fixture.app, environment: .sandbox).provenAt == nil)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), .refused(400, .badDeviceToken))
            try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await fixture.device(1)?.suspicions == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func badTokensOpenTheBreakerOfTheirCredentialOnly(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var limits = CircuitBreaker.Limits()
            limits.minimum = 3
            let policy = TokenInvalidationPolicy(store: store, limits: limits, logger: silentLogger)
            let topic = try #require(Topic(Vectors.bundleID))
            func evaluate(_ counts: CircuitBreaker.Counts, epoch: Int64) async -> TokenInvalidationPolicy.Evaluation {
                var evidence = TokenEvidence()
                evidence.add(counts, isEstablished: true)
                return await policy.evaluate(
                    evidence,
                    app: app,
                    environment: .sandbox,
                    epoch: epoch,
                    topic: topic,
                    now: Vectors.issuedAt
                )
            }
            #expect(await evaluate(.init(bad: 3), epoch: 0).opened != nil)
            // The page with another credential is there before what is known of the first one is forgotten.
            try await store.setCredential(Self.key, app: app, environment: .sandbox)
            let first = await evaluate(.init(accepted: 1), epoch: 1)
            #expect(first.isProven && !first.isBreakerOpen)
            policy.forget(app: app)
            let late = await evaluate(.init(bad: 3), epoch: 0)
            #expect(late.opened == nil && !late.isBreakerOpen && !late.isProven)
            let health = try await store.health(app: app, environment: .sandbox)
            #expect(health.breakerOpenSince == nil)
            #expect(health.provenAt == Vectors.issuedAt)
        }
    }
}
