import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The time for which a notification without an expiration is tried.
@Suite(.timeLimit(.patience)) struct LifetimeTests {
    private static let long = Duration.seconds(40 * 86_400)

    /// Forty days behind when it is accepted, and right before it is sent.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func notificationsAcceptedUnderAClockThatIsBehindAreSent(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...3)
            fixture.time.step(by: .zero - Self.long)
            let notification = try await fixture.accept(["guarantee": .string(guarantee)])
            fixture.time.step(by: Self.long)
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 3)
        }
    }

    /// Both clocks were behind, as at a first start, and the wall clock is corrected amid a campaign and its retries.
    @Test(arguments: StoreBackend.available)
    func aClockThatIsCorrectedAmidACampaignHoldsNothing(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept(["pace": ["waves": ["size": 1, "intervalSeconds": 60]]])
            let dispatcher = fixture.dispatcher
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 1)
            fixture.time.step(by: Self.long)
            try await fixture.settle(dispatcher, after: .seconds(61), times: 3)
            try await fixture.store.expect(notification, .done, accepted: 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func waitingNotificationsAreSentAndRetriesEndAfterTheLongestStorage(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let notification = try await fixture.accept([:])
            try await fixture.settle(after: Self.long)
            #expect(fixture.sender.sent.count == 1)
            try await fixture.settle(after: Self.long)
            #expect(fixture.sender.sent.count == 1)
            let delivery = try await fixture.deliveries(of: notification).first
            #expect(delivery?.state == .failed)
            #expect(delivery?.reason == "expired before it could be sent")
        }
    }
}
