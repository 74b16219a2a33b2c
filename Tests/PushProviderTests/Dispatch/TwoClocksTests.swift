import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// A wall clock that is set while notifications wait.
@Suite(.timeLimit(.patience)) struct TwoClocksTests {
    /// An hour in either direction.
    private static let steps: [Duration] = [.seconds(-3600), .seconds(3600), .seconds(-40 * 86_400)]

    @Test(arguments: StoreBackend.available, Self.steps)
    func aPacedCampaignKeepsItsPace(backend: StoreBackend, step: Duration) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...6)
            let notification = try await fixture.accept([
                "pace": ["waves": ["size": 2, "intervalSeconds": 60]]
            ])
            let dispatcher = fixture.dispatcher
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 2)
            fixture.time.step(by: step)
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 2, "no wave begins because the clock was set")
            for sent in [4, 6] {
                try await fixture.settle(dispatcher, after: .seconds(61))
                #expect(fixture.sender.sent.count == sent)
            }
            // The end is found with the next page.
            try await fixture.settle(dispatcher, after: .seconds(61))
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available, Self.steps)
    func aRetryComesInItsTime(backend: StoreBackend, step: Duration) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            fixture.time.step(by: step)
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
            try await fixture.settle(after: .seconds(61))
            #expect(fixture.sender.sent.count == 2)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available, Self.steps)
    func justAcceptedNotificationsAreSent(backend: StoreBackend, step: Duration) async throws {
        let token = JSONValue.string(DeviceToken.numbered(1).hex)
        for to in [["all": true], ["tokens": [token]]] as [JSONValue] {
            try await DispatchFixture.run(backend) { fixture in
                try await fixture.register(1...1)
                let notification = try await fixture.accept(["to": to, "environment": "sandbox"])
                fixture.time.step(by: step)
                try await fixture.settle()
                #expect(fixture.sender.sent.count == 1)
                #expect(try await fixture.progress(of: notification).state == .done)
            }
        }
    }

    /// People's timestamps are the wall clock's.
    @Test(arguments: StoreBackend.available)
    func schedulesFollowTheWallClock(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let at = fixture.time.now.advanced(by: .seconds(7200))
            try await fixture.accept(["when": ["at": .integer(at.milliseconds)]])
            try await fixture.settle()
            fixture.time.step(by: .seconds(7200))
            try await fixture.settle()
            #expect(fixture.sender.sent.count == 1)
        }
    }

    /// A clock that is ahead for a while must not end what has not expired.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func notificationsExpiredByOneClockOnlyAreKept(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([
                "expiration": .integer(fixture.time.now.seconds + 3 * 3600), "guarantee": .string(guarantee),
                "pace": ["waves": ["size": 1, "intervalSeconds": 60]],
            ])
            let dispatcher = fixture.dispatcher
            try await fixture.settle(dispatcher)
            fixture.time.step(by: .seconds(40 * 86_400))
            try await fixture.settle(dispatcher, after: .seconds(61))
            #expect(fixture.sender.sent.count == 1)
            try await fixture.store.expect(notification, failed: 0)
            fixture.time.step(by: .seconds(-40 * 86_400))
            try await fixture.settle(dispatcher, after: .seconds(360), times: 20)
            try await fixture.store.expect(notification, .done, accepted: 2)
        }
    }

    /// A clock that was ahead at the last start has written timestamps far ahead.
    @Test(arguments: StoreBackend.available)
    func retriesStoredUnderAWrongClockWaitNoLongerThanABackoff(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...4)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([
                "pace": ["waves": ["size": 2, "intervalSeconds": 60]]
            ])
            // Not so far that it expires.
            try await fixture.settle(after: .seconds(20 * 86_400))
            #expect(fixture.sender.sent.count == 2)
            // The next start, with the right clock.
            let time = ManualTime()
            let dispatcher = fixture.dispatcher(time: time)
            _ = try await fixture.store.recover(now: time.steady)
            try await fixture.store.settleWaiting(at: time.reading)
            for _ in 0..<4 {
                time.advance(by: .seconds(15 * 60))
                while try await dispatcher.step() {}
            }
            #expect(fixture.sender.sent.count == 5)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    /// As a process that was stopped for minutes finds it: every lease has run out.
    @Test(arguments: StoreBackend.available)
    func aProcessThatStoodStillRepeatsNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...9)
            fixture.sender.script(.numbered(3), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let (time, wakes) = (fixture.time, fixture.wakes)
            fixture.sender.onSend { _ in
                time.advance(by: .seconds(600))
                for lane in NotificationRecord.Lane.allCases { wakes[lane].signal() }
                await Task.yield()
            }
            let notification = try await fixture.accept([:])
            let store = fixture.store
            try await withServices([fixture.dispatcher]) {
                while try await store.notification(notification.id)?.state != .done {
                    try Task.checkCancellation()
                    time.advance(by: .milliseconds(100))
                    wakes[.bulk].signal()
                }
            }
            #expect(try await fixture.progress(of: notification).progress.accepted == 9)
            #expect(fixture.sender.sent.count == 10)
        }
    }

    @Test func aWebhookWaitsForNothingFurtherThanABackoff() {
        var record = WebhookRecord(
            id: UUID(),
            app: 1,
            url: "https://example.com",
            secret: "",
            events: [],
            isActive: true,
            createdAt: Timestamp(seconds: 0),
            cursor: 0
        )
        let now = Timestamp(seconds: 1_700_000_000)
        record.nextTryAt = now.advanced(by: .seconds(600))
        #expect(!WebhookStateMachine(record).isDue(at: now))
        record.nextTryAt = now.advanced(by: .seconds(40 * 86_400))
        #expect(WebhookStateMachine(record).isDue(at: now))
    }
}
