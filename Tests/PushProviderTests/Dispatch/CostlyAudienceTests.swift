import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Audiences that take long to count.
@Suite(.timeLimit(.patience)) struct CostlyAudienceTests {
    /// An audience for which no index helps.
    private static let costly = AudienceExpression.and(
        (0..<60).map { .not(.attribute(name: "level\($0)", .atLeast, .integer(3))) }
    )
    private static let devices = 200

    private func acceptor(_ fixture: DispatchFixture, acceptance: Duration, opening: Duration) -> NotificationAcceptor {
        let (store, wakes, time) = (fixture.store, fixture.wakes, fixture.time)
        let opener = NotificationOpener(store: store, wakes: wakes, budget: opening, time: time)
        return NotificationAcceptor(store: store, wakes: wakes, opener: opener, budget: acceptance, time: time)
    }

    private func accept(_ acceptor: NotificationAcceptor, _ fixture: DispatchFixture) async throws -> NotificationRecord
    {
        let bundleID = try #require(Topic(Vectors.bundleID))
        let body: JSONValue = ["to": ["all": true], "alert": "Hi"]
        var request = try NotificationRequest(parsing: try body.text, bundleID: bundleID, now: fixture.time.now)
        request.audience = .devices(Self.costly)
        let (notification, acceptance) = try await acceptor.accept(request, app: fixture.app)
        #expect(acceptance == .accepted)
        return notification
    }

    /// A campaign to a million is legitimate, however it is worded.
    @Test(arguments: StoreBackend.available)
    func slowAudiencesAreAcceptedAndOpenedLater(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...Self.devices)
            let acceptor = self.acceptor(fixture, acceptance: .zero, opening: .seconds(3600))
            let notification = try await self.accept(acceptor, fixture)
            #expect(notification.state == .scheduled)
            #expect(try await acceptor.opener.openDue(notification))
            let opened = try await fixture.store.current(notification)
            #expect(opened.progress.recipients == Self.devices)
            #expect(opened.state != .scheduled)
        }
    }

    /// Where others are counted first, it is due later, and never paused.
    @Test(arguments: StoreBackend.available)
    func tooManyCountsAreNoFault(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...Self.devices)
            let acceptor = self.acceptor(fixture, acceptance: .zero, opening: .seconds(3600))
            let notification = try await self.accept(acceptor, fixture)
            let busy = NotificationOpener(store: fixture.store, wakes: fixture.wakes, time: fixture.time) { _, _ in
                throw BudgetRefusal(.counts, .whole)
            }
            await #expect(throws: BudgetRefusal.self) { try await busy.openDue(notification) }
            #expect(try await fixture.store.current(notification).state == .scheduled)
            #expect(try await acceptor.opener.openDue(notification))
        }
    }

    /// What it belongs to does not come back, so that it would block the others each time.
    @Test(arguments: StoreBackend.available)
    func whatBelongsToSomethingRemovedIsPaused(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...Self.devices)
            let acceptor = self.acceptor(fixture, acceptance: .zero, opening: .seconds(3600))
            let notification = try await self.accept(acceptor, fixture)
            func opener(_ error: StoreError) -> NotificationOpener {
                let (store, wakes, time) = (fixture.store, fixture.wakes, fixture.time)
                return NotificationOpener(store: store, wakes: wakes, time: time) { _, _ in throw error }
            }
            let full = StoreError.cannotWrite(why: "full")
            await #expect(throws: full) { try await opener(full).openDue(notification) }
            #expect(try await fixture.store.current(notification).state == .scheduled)
            let removed = StoreError.ownerRemoved(.app)
            #expect(try await !opener(removed).openDue(notification))
            let paused = try await fixture.store.current(notification)
            #expect(paused.state == .paused)
            #expect(paused.progress.pauseReason?.contains("was removed") == true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatWasCancelledMeanwhileIsNotCounted(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...Self.devices)
            let acceptor = self.acceptor(fixture, acceptance: .zero, opening: .seconds(3600))
            let found = try await self.accept(acceptor, fixture)
            _ = try await fixture.store.setState(.cancel, of: found.id, now: fixture.time.now)
            let opener = NotificationOpener(store: fixture.store, wakes: fixture.wakes, time: fixture.time) { _, _ in
                Issue.record("its recipients were counted")
                return 0
            }
            #expect(try await !opener.openDue(found))
            #expect(try await fixture.store.current(found).state == .cancelled)
        }
    }

    /// It does not block others, and has a pause reason.
    @Test(arguments: StoreBackend.available)
    func tooSlowAudiencesArePaused(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...Self.devices)
            let acceptor = self.acceptor(fixture, acceptance: .zero, opening: .zero)
            let notification = try await self.accept(acceptor, fixture)
            #expect(try await !acceptor.opener.openDue(notification))
            let paused = try await fixture.store.current(notification)
            #expect(paused.state == .paused)
            #expect(paused.progress.pauseReason?.contains("longer than") == true)
        }
    }
}
