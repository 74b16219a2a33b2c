import Foundation
import Logging
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The story of campaigns in the log.
@Suite(.timeLimit(.patience)) struct CampaignMonitorTests {
    /// Nothing comes back while the clock stands still.
    private static var lines: Budget {
        let start = ContinuousClock.now
        return Budget(.logLines) { start }
    }

    @Test(arguments: StoreBackend.available)
    func aCampaignHasItsStoryAndASinglePushHasNone(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 1) { fixture in
            let log = RecordedLog(level: .info)
            let monitor = CampaignMonitor(store: fixture.store, lines: Self.lines, logger: log.logger)
            var follower = CampaignFollower()
            await monitor.step(&follower)
            try await fixture.register(1...3)
            fixture.sender.script(.numbered(2), .refused(410, .unregistered, at: fixture.time.now))
            try await fixture.accept(["to": ["tokens": [.string(DeviceToken.numbered(1).hex)]]])
            let notification = try await fixture.accept(["name": "spring sale"])
            await monitor.step(&follower)
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            await monitor.step(&follower)
            try await fixture.set(notification, .pause(reason: nil))
            await monitor.step(&follower)
            try await fixture.set(notification, .resume)
            await monitor.step(&follower)
            try await fixture.settle(dispatcher)
            await monitor.step(&follower)
            let (subject, name) = ("app=\(Vectors.bundleID)", "name=spring sale")
            #expect(
                log.lines == [
                    "campaign accepted \(subject) \(name) notification=\(notification.id)",
                    "campaign started \(subject) \(name) notification=\(notification.id) recipients=3",
                    "campaign paused \(subject) \(name) notification=\(notification.id)",
                    "campaign resumed \(subject) \(name) notification=\(notification.id)",
                    """
                    campaign ended accepted=2 \(subject) failed=0 \(name) notification=\(notification.id) recipients=3 \
                    rejected=1 seconds=0 skipped=0 unknown=0
                    """,
                ]
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func theReasonOfAPauseByTheProviderIsAWarning(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let log = RecordedLog(level: .warning)
            let monitor = CampaignMonitor(store: fixture.store, lines: Self.lines, logger: log.logger)
            var follower = CampaignFollower()
            await monitor.step(&follower)
            try await fixture.register(1...1)
            let notification = try await fixture.accept([:])
            try await fixture.set(notification, .pause(reason: "too many dead tokens"))
            await monitor.step(&follower)
            let place = "app=\(Vectors.bundleID) notification=\(notification.id)"
            #expect(log.lines == ["campaign paused \(place) reason=too many dead tokens"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRestartContinuesTheStory(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let notification = try await fixture.accept([:])
            let log = RecordedLog(level: .info)
            let monitor = CampaignMonitor(store: fixture.store, lines: Self.lines, logger: log.logger)
            var follower = CampaignFollower()
            await monitor.step(&follower)
            #expect(log.lines == ["campaigns continue count=1"])
            try await fixture.set(notification, .cancel)
            await monitor.step(&follower)
            #expect(log.lines.last?.hasPrefix("campaign cancelled accepted=0 app=\(Vectors.bundleID)") == true)
        }
    }

    /// A caller can accept campaigns as fast as the API lets it.
    @Test(arguments: StoreBackend.available)
    func manyCampaignsMakeFewLines(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let log = RecordedLog(level: .info)
            let monitor = CampaignMonitor(store: fixture.store, lines: Self.lines, logger: log.logger)
            var follower = CampaignFollower()
            await monitor.step(&follower)
            for _ in 0..<40 { try await fixture.accept([:]) }
            await monitor.step(&follower)
            #expect(log.lines.count == 30)
        }
    }
}
