import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite(.timeLimit(.patience)) struct RetentionServiceTests {
    private func clean(_ fixture: DispatchFixture, _ time: (any TimeSource)? = nil) async throws {
        try await RetentionService(store: fixture.store, time: time ?? fixture.time, logger: silentLogger).clean()
    }

    @Test(arguments: StoreBackend.available)
    func oldRecordsAreDeleted(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            fixture.time.advance(by: .seconds(29 * 86_400))
            try await self.clean(fixture)
            #expect(try await fixture.store.notification(notification.id) != nil)
            fixture.time.advance(by: .seconds(2 * 86_400))
            try await self.clean(fixture)
            #expect(try await fixture.store.notification(notification.id) == nil)
        }
    }

    /// A clock that is 40 days ahead deletes nothing, neither when it is set nor at the next start with it.
    @Test(arguments: StoreBackend.available)
    func aClockThatIsAheadDeletesNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.setClockMark(ClockMark(steady: fixture.time.steady))
            fixture.time.step(by: .seconds(40 * 86_400))
            try await self.clean(fixture)
            #expect(try await fixture.store.notification(notification.id) != nil)
            let start = ClockStateMachine(mark: try await fixture.store.clockMark(), wall: fixture.time.now).start
            try await self.clean(fixture, ProviderTime(fixture.time, startingAt: start))
            #expect(try await fixture.store.notification(notification.id) != nil)
            // An operator confirms the clock.
            let confirmed = ClockStateMachine(
                mark: try await fixture.store.clockMark(),
                wall: fixture.time.now,
                isConfirmed: true
            )
            try await self.clean(fixture, ProviderTime(fixture.time, startingAt: confirmed.start))
            #expect(try await fixture.store.notification(notification.id) == nil)
        }
    }

    /// Records that end while the clock is far behind are not old when the clock is set.
    @Test(arguments: StoreBackend.available)
    func recordsThatEndedWhileTheClockWasBehindAreKept(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.time.step(by: .seconds(-400 * 86_400))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .done)
            fixture.time.step(by: .seconds(400 * 86_400))
            try await self.clean(fixture)
            #expect(try await fixture.store.notification(notification.id) != nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theServiceCleansAfterItHasRunForAWhile(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            fixture.time.advance(by: .seconds(31 * 86_400))
            let wake = WakeSignal()
            let service = RetentionService(
                store: fixture.store,
                wake: wake,
                time: fixture.time,
                logger: silentLogger
            )
            try await withServices([service]) {
                while try await fixture.store.notification(notification.id) != nil {
                    try Task.checkCancellation()
                    fixture.time.advance(by: .seconds(1))
                    wake.signal()
                }
            }
            #expect(fixture.time.now.since(notification.createdAt) >= .seconds(31 * 86_400 + 600))
        }
    }

    /// The same key is the same request by any clock.
    @Test(arguments: StoreBackend.available)
    func anIdempotencyKeySurvivesAClockThatIsAhead(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let app = try #require(try await fixture.store.app(id: fixture.app))
            let body = try JSONValue.object(["alert": "Hello", "to": ["all": true]]).text
            let request = try NotificationRequest(parsing: body, bundleID: app.bundleID, now: fixture.time.now)
            let key = Idempotency(key: "order 1", fingerprint: [1])
            let first = try await fixture.acceptor.accept(request, app: app.id, idempotency: key)
            #expect(first.acceptance == .accepted)
            try await fixture.settle()
            fixture.time.step(by: .seconds(40 * 86_400))
            try await self.clean(fixture)
            let again = try await fixture.acceptor.accept(request, app: app.id, idempotency: key)
            guard case .repeated(let earlier) = again.acceptance else {
                Issue.record("accepted again")
                return
            }
            #expect(earlier.id == first.notification.id)
        }
    }
}
