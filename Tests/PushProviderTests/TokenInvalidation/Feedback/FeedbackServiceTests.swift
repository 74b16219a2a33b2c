import Foundation
import Metrics
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The reading of feedback services.
@Suite(.timeLimit(.patience)) struct FeedbackServiceTests {
    /// A feedback service that lists what a test says, once.
    private final class Lists: Sendable {
        private struct State {
            var lists: [[FeedbackTuple]]
            var error: FeedbackError?
            var readings = 0
        }

        private let state: Mutex<State>

        init(_ lists: [FeedbackTuple]..., error: FeedbackError? = nil) {
            self.state = Mutex(State(lists: lists, error: error))
        }

        var readings: Int { self.state.withLock { $0.readings } }

        /// The error after the tuples of each list; `nil` for none.
        func fail(_ error: FeedbackError?) { self.state.withLock { $0.error = error } }

        func next() -> AsyncThrowingStream<FeedbackTuple, any Error> {
            let (list, error) = self.state.withLock { state in
                state.readings += 1
                return (state.lists.isEmpty ? [] : state.lists.removeFirst(), state.error)
            }
            return AsyncThrowingStream { continuation in
                for tuple in list { continuation.yield(tuple) }
                continuation.finish(throwing: error)
            }
        }
    }

    private func tuple(_ number: Int, after seconds: Int64 = 1) -> FeedbackTuple {
        FeedbackTuple(seconds: UInt32(clamping: Vectors.issuedAt.seconds + seconds), token: .numbered(number))
    }

    private func service(_ fixture: DispatchFixture, _ lists: Lists) -> FeedbackService {
        FeedbackService(
            store: fixture.store,
            directory: fixture.directory,
            policy: fixture.invalidation,
            endpoints: [.sandbox: PushServiceEndpoint(host: "localhost", port: 2196)],
            source: { _, _ in lists.next() },
            metrics: NOOPMetricsHandler.instance,
            time: fixture.time,
            logger: silentLogger
        )
    }

    /// Runs a test with a certificate for the sandbox.
    private func run(
        _ backend: StoreBackend,
        breaker: CircuitBreaker.Limits = .init(),
        _ body: (DispatchFixture, AppEnvironment) async throws -> Void
    ) async throws {
        try await DispatchFixture.run(backend, environments: [], breaker: breaker) { fixture in
            let certificate = try PushCertificate()
            try await fixture.store.setCredential(
                .certificate(pem: certificate.pem + certificate.key, passphrase: nil),
                app: fixture.app,
                environment: .sandbox
            )
            // The certificate is of today.
            try await body(fixture, AppEnvironment(app: fixture.app, environment: .sandbox))
        }
    }

    @Test(arguments: StoreBackend.available)
    func listedDevicesBecomeInactiveUnlessTheyHaveRegisteredSince(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, target in
            try await fixture.register(1...4)
            let lists = Lists([self.tuple(1), self.tuple(2, after: 0), self.tuple(3, after: -5), self.tuple(9)])
            let run = try await self.service(fixture, lists).read(target)
            #expect(run.counts.tokens == 4 && run.counts.deactivated == 1)
            #expect(run.counts.kept == 2 && run.counts.unknown == 1 && run.counts.withheld == 0)
            #expect(run.error == nil && run.endedAt == fixture.time.now)
            let active = try await fixture.store.activeDevices(of: target, tokens: (1...4).map { .numbered($0) })
            #expect(active.map(\.token) == [2, 3, 4].map { .numbered($0) })
            let events = try await fixture.store.tokenEvents(
                app: fixture.app,
                token: .numbered(1),
                action: .deactivated,
                before: nil,
                limit: 10
            )
            #expect(events.first?.reason == "listed by the feedback service")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aServiceIsReadEveryHour(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, target in
            let lists = Lists()
            try await self.service(fixture, lists).readDue()
            try await self.service(fixture, lists).readDue()
            #expect(lists.readings == 1, "a restart does not begin anew")
            fixture.time.advance(by: .seconds(3599))
            try await self.service(fixture, lists).readDue()
            #expect(lists.readings == 1)
            fixture.time.advance(by: .seconds(1))
            try await self.service(fixture, lists).readDue()
            #expect(lists.readings == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatWasReadBeforeAnErrorCounts(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, target in
            try await fixture.register(1...2)
            let lists = Lists([self.tuple(1)], error: .truncated)
            let service = self.service(fixture, lists)
            let failed = try await service.read(target)
            #expect(failed.counts.deactivated == 1)
            #expect(failed.error != nil && failed.failures == 1)
            let wait = failed.nextAt.since(fixture.time.steady)
            #expect(wait >= .seconds(30) && wait <= .seconds(60))
            lists.fail(nil)
            fixture.time.advance(by: .seconds(60))
            try await service.readDue()
            #expect(lists.readings == 2)
            #expect(try await fixture.store.feedbackRun(of: target)?.failures == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatWasReadBeforeTheDeadlineCounts(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, target in
            try await fixture.register(1...3)
            let tuples = [self.tuple(1), self.tuple(2)]
            var times = FeedbackSchedule()
            times.deadline = .milliseconds(1)
            let service = FeedbackService(
                store: fixture.store,
                directory: fixture.directory,
                policy: fixture.invalidation,
                endpoints: [.sandbox: PushServiceEndpoint(host: "localhost", port: 2196)],
                times: times,
                // A list without an end.
                source: { _, _ in AsyncThrowingStream { for tuple in tuples { $0.yield(tuple) } } },
                metrics: NOOPMetricsHandler.instance,
                time: fixture.time,
                logger: silentLogger
            )
            let run = try await service.read(target)
            #expect(run.counts.tokens == 2 && run.counts.deactivated == 2)
            #expect(run.error != nil && run.failures == 1)
            let active = try await fixture.store.activeDevices(of: target, tokens: (1...3).map { .numbered($0) })
            #expect(active.map(\.token) == [.numbered(3)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func tooLongAListOpensTheBreaker(backend: StoreBackend) async throws {
        var limits = CircuitBreaker.Limits()
        limits.minimum = 10
        try await self.run(backend, breaker: limits) { fixture, target in
            try await fixture.register(1...40)
            let few = try await self.service(fixture, Lists((1...9).map { self.tuple($0) })).read(target)
            #expect(few.counts.deactivated == 9)
            let many = try await self.service(fixture, Lists((10...30).map { self.tuple($0) })).read(target)
            #expect(many.counts.withheld == 21 && many.counts.deactivated == 0)
            #expect(try await fixture.store.withheldTokens(app: target.app, environment: .sandbox) == 21)
            let health = try await fixture.store.health(app: target.app, environment: .sandbox)
            #expect(health.breakerReason?.contains("21 of 31") == true)
            let applied = try await fixture.store.settleWithheld(
                app: target.app,
                environment: .sandbox,
                deactivates: true,
                now: fixture.time.now
            )
            #expect(applied == 21)
        }
    }

    @Test(arguments: StoreBackend.available)
    func itSaysWhyNothingCanBeRead(backend: StoreBackend) async throws {
        try await self.run(backend) { fixture, target in
            let lists = Lists()
            let service = self.service(fixture, lists)
            let production = AppEnvironment(app: target.app, environment: .production)
            await #expect { _ = try await service.read(production) } throws: { error in
                (error as? RequestError)?.code == "no_feedback_service"
            }
            let key = CredentialRecord.key(
                teamID: Vectors.teamID,
                keyID: Vectors.keyID,
                privateKey: Vectors.privateKey
            )
            try await fixture.store.setCredential(key, app: target.app, environment: .sandbox)
            fixture.directory.forget(app: target.app)
            await #expect { _ = try await service.read(target) } throws: { error in
                (error as? RequestError)?.code == "needs_certificate"
            }
            try await service.readDue()
            #expect(lists.readings == 0)
        }
    }

    @Test func theNextReadingIsLaterWithEachFailure() {
        let times = FeedbackSchedule()
        let start = Vectors.issuedAt
        var generator = SystemRandomNumberGenerator()
        func wait(_ failures: Int) -> Duration {
            times.next(after: start, endedAt: start, failures: failures, using: &generator).since(start)
        }
        #expect(wait(0) == .seconds(3600))
        #expect((Duration.seconds(30)...Duration.seconds(60)).contains(wait(1)))
        #expect((Duration.seconds(120)...Duration.seconds(240)).contains(wait(3)))
        #expect((Duration.seconds(1800)...Duration.seconds(3600)).contains(wait(100)))
        // A reading that took longer than the interval is followed by the next one at once.
        let late = start.advanced(by: .seconds(4000))
        #expect(times.next(after: start, endedAt: late, failures: 0, using: &generator) == late)
    }
}
