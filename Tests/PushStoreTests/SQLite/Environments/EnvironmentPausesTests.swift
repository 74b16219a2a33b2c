import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The pauses of environments in the store, against the changes of credentials.
@Suite(.timeLimit(.minutes(5))) struct EnvironmentPausesTests {
    private static let fault = ConfigurationFault(.credentialRejected, detail: "Forbidden", host: "h", port: 2197)
    private static let key = CredentialRecord.key(
        teamID: Vectors.teamID,
        keyID: Vectors.keyID,
        privateKey: Vectors.privateKey
    )
    private let now = Vectors.issuedAt

    private func request(_ app: Int64, epoch: Int64, event: Data? = nil) -> EnvironmentPauseRequest {
        let target = AppEnvironment(app: app, environment: .sandbox)
        return .init(.init(target, Self.fault, since: self.now, proofs: 3), epoch: epoch, event: event)
    }

    @Test(arguments: StoreBackend.available)
    func aPauseIsWrittenOnceAndReadAgain(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let request = self.request(app, epoch: 0)
            #expect(try await store.pause(request, now: self.now))
            #expect(try await !store.pause(request, now: self.now))
            #expect(try await store.environmentPauses() == [request.pause])
            let target = request.pause.target
            let other = self.now.advanced(by: .seconds(1))
            #expect(try await !store.endPause(of: target, since: other, event: nil, now: self.now))
            #expect(try await store.endPause(of: target, since: self.now, event: nil, now: self.now))
            #expect(try await !store.endPause(of: target, since: nil, event: nil, now: self.now))
            #expect(try await store.environmentPauses() == [])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aChangeOfTheCredentialRefusesEarlierProofs(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = AppEnvironment(app: app, environment: .sandbox)
            try await store.setCredential(Self.key, app: app, environment: .sandbox)
            #expect(try await store.storedCredential(target)?.epoch == 1)
            try await store.setCredential(Self.key, app: app, environment: .sandbox)
            #expect(try await !store.pause(self.request(app, epoch: 1), now: self.now))
            _ = try await store.removeCredential(app: app, environment: .sandbox)
            #expect(try await !store.pause(self.request(app, epoch: 2), now: self.now))
            #expect(try await store.credentialEpoch(target) == 3)
            #expect(try await store.pause(self.request(app, epoch: 3), now: self.now))
        }
    }

    @Test(arguments: StoreBackend.available)
    func thePauseOfAnAppThatIsGoneIsNotWritten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            #expect(try await !store.pause(self.request(app + 1, epoch: 0), now: self.now))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPauseAndItsEndAreEventsForWebhooks(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let request = self.request(app, epoch: 0, event: Data("1".utf8))
            _ = try await store.pause(request, now: self.now)
            let end = Data("2".utf8)
            _ = try await store.endPause(of: request.pause.target, since: nil, event: end, now: self.now)
            let blocks = try await store.eventBlocks(app: app, kinds: [.environment], after: 0, limit: 10)
            #expect(blocks.map { String(decoding: $0.events, as: UTF8.self) } == ["1", "2"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsHeldWithoutAPauseIsDueAtOnce(backend: StoreBackend) async throws {
        try await backend.withClaim { store, notification, claim in
            var result = PageResult(claim)
            let far = self.now.advanced(by: .seconds(86_400))
            result.retries = [RetryResult(recipient: 1, attempts: 0, dueAt: far, heldFor: .sandbox)]
            result.step = ShardStep(claim, cursor: 1, isLast: true, leaseUntil: nil)
            _ = try await store.commit([result], now: self.now)
            #expect(try await store.holdingEnvironments() == [])
            let claims = try await store.dueRetries(
                lane: notification.lane,
                now: self.now,
                until: far,
                limit: 10,
                from: ClaimFilter()
            )
            #expect(claims.flatMap(\.recipients).map(\.id) == [1])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theEndOfAPauseReleasesInPortions(backend: StoreBackend) async throws {
        try await backend.withClaim(devices: 5) { store, notification, claim in
            let app = notification.app
            let far = self.now.advanced(by: .seconds(86_400))
            var result = PageResult(claim)
            result.environmentPauses = [self.request(app, epoch: 0)]
            result.retries = (1...5).map { RetryResult(recipient: $0, attempts: 0, dueAt: far, heldFor: .sandbox) }
            result.step = ShardStep(claim, cursor: 5, isLast: true, leaseUntil: nil)
            _ = try await store.commit([result], now: self.now)
            let target = AppEnvironment(app: app, environment: .sandbox)
            #expect(try await store.holdingEnvironments() == [target])
            // A paused environment releases nothing.
            #expect(try await store.releaseHeld(by: target, limit: 3) == 0)
            _ = try await store.endPause(of: target, since: nil, event: nil, now: self.now)
            #expect(try await store.releaseHeld(by: target, limit: 3) == 3)
            #expect(try await store.releaseHeld(by: target, limit: 3) == 2)
            #expect(try await store.holdingEnvironments() == [])
        }
    }
}
