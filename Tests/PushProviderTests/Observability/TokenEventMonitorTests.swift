import Logging
import Metrics
import ProviderModel
import PushHTTP
import PushSender
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The changes of tokens, as metrics and as sums in the log.
@Suite(.timeLimit(.patience)) struct TokenEventMonitorTests {
    @Test(arguments: StoreBackend.available)
    func deactivationsAreSummedByReason(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let (log, metrics) = (RecordedLog(level: .info), PrometheusRegistry())
            let monitor = TokenEventMonitor(store: fixture.store, metrics: metrics, logger: log.logger)
            var state = TokenEventMonitor.State()
            try await fixture.register(1...4)
            await monitor.count(&state)
            fixture.time.advance(by: .seconds(10))
            for number in 1...2 {
                fixture.sender.script(.numbered(number), .refused(410, .unregistered, at: fixture.time.now))
            }
            let expired = Rejection(status: 410, reasonText: "A reason\nthat nobody knows", timestamp: fixture.time.now)
            fixture.sender.script(.numbered(3), .rejected(expired))
            try await fixture.accept([:])
            try await fixture.settle()
            await monitor.count(&state)
            monitor.summarize(&state)
            let place = "app=\(Vectors.bundleID) count=2 environment=sandbox reason=Unregistered"
            #expect(log.lines.first == "tokens were deactivated \(place)")
            #expect(!log.lines.contains { $0.contains("nobody") }, "the reasons are a limited number")
            let labels = #"action="deactivated",app="\#(Vectors.bundleID)",environment="sandbox",reason="Unregistered""#
            #expect(metrics.text.contains("martlet_token_changes_total{\(labels)} 2\n"))
            let count = log.lines.count
            await monitor.count(&state)
            monitor.summarize(&state)
            #expect(log.lines.count == count, "each change is counted once")
        }
    }

    @Test(arguments: StoreBackend.available)
    func withheldDeactivationsAreAWarning(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let log = RecordedLog(level: .warning)
            let monitor = TokenEventMonitor(store: fixture.store, metrics: PrometheusRegistry(), logger: log.logger)
            var state = TokenEventMonitor.State()
            await monitor.count(&state)
            var health = EnvironmentHealth(epoch: 1)
            health.breakerOpenSince = fixture.time.now
            try await fixture.store.setHealth(health, app: fixture.app, environment: .sandbox)
            try await fixture.register(1...1)
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), .refused(410, .unregistered, at: fixture.time.now))
            try await fixture.accept([:])
            try await fixture.settle()
            await monitor.count(&state)
            monitor.summarize(&state)
            let place = "app=\(Vectors.bundleID) count=1 environment=sandbox reason=Unregistered"
            #expect(log.lines == ["deactivations of tokens were withheld \(place)"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func earlierChangesAreNotCountedAgainByAStart(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            try await fixture.delete(1)
            let metrics = PrometheusRegistry()
            let monitor = TokenEventMonitor(store: fixture.store, metrics: metrics, logger: silentLogger)
            var state = TokenEventMonitor.State()
            await monitor.count(&state)
            #expect(metrics.text.isEmpty)
            try await fixture.register(2...2)
            try await fixture.delete(2)
            await monitor.count(&state)
            #expect(metrics.text.contains(#"action="deleted""#))
        }
    }
}
