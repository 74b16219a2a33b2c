import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``LegacyTokenStore`` and ``FeedbackStore``.
@Suite(.timeLimit(.patience)) struct LegacyStoreContract: StoreContract {
    private func target(_ app: Int64) -> AppEnvironment { AppEnvironment(app: app, environment: .sandbox) }

    /// Commits a page that has proven tokens invalid, of a notification that came over a bridge.
    private func commit(
        _ invalid: [InvalidNamedToken],
        over origin: NotificationOrigin?,
        _ store: any ProviderStore,
        _ app: Int64
    ) async throws {
        let notification = try await store.start(app: app, to: .tokens(invalid.map(\.token))) {
            $0.acceptance.origin = origin
        }
        let claims = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 100)
        let claim = try #require(claims.first { $0.notification.id == notification.id })
        try await store.commit(claim) { page in
            page.invalidTokens = invalid
            page.step = .last(claim)
        }
    }

    private func invalid(_ number: Int, isUnregistered: Bool = true, since: Timestamp? = nil) -> InvalidNamedToken {
        InvalidNamedToken(
            token: .numbered(number),
            environment: .sandbox,
            since: since ?? self.now,
            isUnregistered: isUnregistered
        )
    }

    private let bridge = NotificationOrigin(.binary, bridge: Vectors.bundleID)

    @Test(arguments: StoreBackend.available)
    func whatABridgesPageProvesIsListedAndRefusedOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            try await self.commit([self.invalid(2), self.invalid(1)], over: self.bridge, store, app)
            try await self.commit([self.invalid(3, isUnregistered: false)], over: self.bridge, store, app)
            try await self.commit([self.invalid(4)], over: nil, store, app)
            try await self.commit([self.invalid(5)], over: .init(.matrix, bridge: "x"), store, app)
            let all = (1...5).map { DeviceToken.numbered($0) }
            #expect(try await store.refusedTokens(all, of: target) == Set(all.prefix(3)))
            let list = try await store.feedbackList(of: target, after: nil, limit: 10)
            #expect(
                list == [
                    LegacyToken(token: .numbered(1), since: self.now), .init(token: .numbered(2), since: self.now),
                ]
            )
            #expect(try await store.feedbackList(of: target, after: .numbered(1), limit: 10) == [list[1]])
            #expect(try await store.feedbackList(of: target, after: nil, limit: 1) == [list[0]])
            let other = AppEnvironment(app: app, environment: .production)
            #expect(try await store.feedbackList(of: other, after: nil, limit: 10).isEmpty)
            // Each in its own time.
            try await store.takeRefusal(.numbered(1), of: target)
            #expect(try await store.refusedTokens(all, of: target) == Set(all[1...2]))
            #expect(try await store.feedbackList(of: target, after: nil, limit: 10) == list)
            try await store.clearFeedback(list, of: target)
            #expect(try await store.feedbackList(of: target, after: nil, limit: 10).isEmpty)
            #expect(try await store.refusedTokens(all, of: target) == Set(all[1...2]))
            #expect(try await store.forgetLegacyTokens(before: self.later, limit: 1) == 1)
            #expect(try await store.forgetLegacyTokens(before: self.later, limit: 10) == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anEntryThatHasChangedSinceItWasReadStays(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            try await self.commit([self.invalid(1)], over: self.bridge, store, app)
            let read = try await store.feedbackList(of: target, after: nil, limit: 10)
            try await self.commit([self.invalid(1, since: self.later)], over: self.bridge, store, app)
            try await store.clearFeedback(read, of: target)
            let list = try await store.feedbackList(of: target, after: nil, limit: 10)
            #expect(list == [LegacyToken(token: .numbered(1), since: self.later)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatRegistersIsNeitherListedNorRefused(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            try await self.commit([self.invalid(1)], over: self.bridge, store, app)
            let earlier = self.now.advanced(by: .seconds(-60))
            let device = try await store.register(1, app: app, now: earlier)
            #expect(try await store.refusedTokens([.numbered(1)], of: target).count == 1)
            try await store.register(1, app: app, now: self.now)
            #expect(try await store.refusedTokens([.numbered(1)], of: target).isEmpty)
            #expect(try await store.feedbackList(of: target, after: nil, limit: 10).isEmpty)
            // An inactive device is refused for as long as it is.
            try await store.apply(.deactivated(since: self.later), to: device, app: app)
            #expect(try await store.refusedTokens([.numbered(1)], of: target).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func pushesOverABridgeAreFoundByTheirTime(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for (number, seconds) in [(1, 0), (2, 30), (3, 60)] {
                _ = try await store.start(app: app, to: .tokens([.numbered(number)])) {
                    $0.createdAt = self.now.advanced(by: .seconds(seconds))
                    $0.acceptance.origin = number == 2 ? nil : self.bridge
                }
            }
            let pushes = try await store.legacyPushes(over: Vectors.bundleID, app: app, since: self.now, limit: 10)
            #expect(pushes.map(\.token) == [.numbered(3), .numbered(1)])
            #expect(pushes.first?.payload == Data(Vectors.payload.utf8))
            let newest = try await store.legacyPushes(over: Vectors.bundleID, app: app, since: self.now, limit: 1)
            #expect(newest.map(\.token) == [.numbered(3)])
            let none = try await store.legacyPushes(over: "other", app: app, since: self.now, limit: 10)
            #expect(none.isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aReadingIsMadeOnceWithinItsTime(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            #expect(try await store.dueFeedback(at: self.now).isEmpty)
            try await store.setCredential(.certificate(pem: "pem", passphrase: nil), app: app, environment: .sandbox)
            let key = CredentialRecord.key(teamID: "a", keyID: "b", privateKey: "c")
            try await store.setCredential(key, app: app, environment: .production)
            #expect(try await store.dueFeedback(at: self.now) == [target])
            #expect(try await store.feedbackRun(of: target) == nil)
            let begun = try await store.beginFeedback(of: target, due: self.now, nextAt: self.later, now: self.now)
            #expect(begun == .begun(failures: 0))
            let again = try await store.beginFeedback(of: target, due: self.now, nextAt: self.later, now: self.now)
            #expect(again == .notDue)
            #expect(try await store.dueFeedback(at: self.now).isEmpty)
            #expect(try await store.dueFeedback(at: self.later) == [target])
            var run = FeedbackRun(startedAt: self.now, nextAt: self.later)
            run.endedAt = self.now
            (run.failures, run.error) = (2, "nothing listens")
            run.counts.add(.init())
            run.counts.tokens = 3
            try await store.endFeedback(of: target, run)
            #expect(try await store.feedbackRun(of: target) == run)
            let asked = try await store.beginFeedback(of: target, due: nil, nextAt: self.later, now: self.now)
            #expect(asked == .begun(failures: 2))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCredentialHasATransport(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            let certificate = CredentialRecord.certificate(pem: "pem", passphrase: nil)
            try await store.setCredential(certificate, over: .binary, app: app, environment: .sandbox)
            #expect(try await store.storedCredential(target)?.transport == .binary)
            #expect(try await store.transports(app: app) == [.sandbox: .binary])
            try await store.setCredential(certificate, app: app, environment: .sandbox)
            #expect(try await store.storedCredential(target)?.transport == .http2)
            #expect(try await store.transports(app: app) == [.sandbox: .http2])
        }
    }

    @Test(arguments: StoreBackend.available)
    func everythingGoesWithItsApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let target = self.target(app)
            try await self.commit([self.invalid(1)], over: self.bridge, store, app)
            _ = try await store.beginFeedback(of: target, due: nil, nextAt: self.later, now: self.now)
            let erasure = try #require(try await store.eraseApp(app, now: self.now, steady: self.now))
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.feedbackRun(of: target) == nil)
            #expect(try await store.feedbackList(of: target, after: nil, limit: 10).isEmpty)
        }
    }
}
