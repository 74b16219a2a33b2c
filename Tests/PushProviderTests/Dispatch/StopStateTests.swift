import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// States, counters and deliveries agree at every moment that an API call can see, also around a stop.
@Suite(.timeLimit(.patience)) struct StopStateTests {
    private static let finals: [DeliveryRecord.State] = [.accepted, .rejected, .failed, .skipped, .unknown]

    /// Compares what an API call can see.
    /// - Parameter isInFlight: Indicates whether a push of the notification has no outcome.
    /// - Returns: The number of accepted recipients.
    @discardableResult
    private func check(
        _ notification: NotificationRecord,
        isInFlight: Bool,
        most: Int?,
        _ fixture: DispatchFixture
    ) async throws -> Int {
        let record = try await fixture.progress(of: notification)
        let progress = record.progress
        let counted = [progress.accepted, progress.rejected, progress.failed, progress.skipped, progress.unknown]
        let deliveries = try await fixture.deliveries(of: notification)
        let listed = Self.finals.map { state in deliveries.count { $0.state == state } }
        #expect(counted == listed, "\(record.state)")
        let finished = counted.reduce(0, +)
        #expect(progress.recipients == 0 || finished + progress.retrying <= progress.recipients)
        #expect(progress.accepted <= fixture.sender.sent.count)
        if let most { #expect(progress.accepted <= most, "no more than was under way") }
        if record.state == .done {
            #expect(finished == progress.recipients && progress.retrying == 0 && !isInFlight)
        }
        return progress.accepted
    }

    /// Recipients are accepted, skipped, tried again and in flight when the stop comes in the middle of a page.
    @Test(
        arguments: [
            (.pause(reason: nil), "atLeastOnce"), (.pause(reason: nil), "atMostOnce"),
            (.cancel, "atLeastOnce"), (.cancel, "atMostOnce"),
        ] as [(change: StateChange, guarantee: String)],
        StoreBackend.available
    )
    func statesAgreeWithCountersAllTheTime(stop: (change: StateChange, guarantee: String), backend: StoreBackend)
        async throws
    {
        try await DispatchFixture.run(backend, page: 3) { fixture in
            try await fixture.register(1...8)
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable, after: .seconds(60)))
            let direct = DirectDispatch(store: fixture.store, limits: fixture.limits, time: fixture.time)
            let dispatcher = fixture.dispatcher(direct: direct)
            let notification = try await fixture.accept(["guarantee": .string(stop.guarantee)])
            let most = Mutex<Int?>(nil)
            let once = Once()
            fixture.sender.onSend { sent in
                do {
                    let accepted = try await self.check(
                        notification,
                        isInFlight: true,
                        most: most.withLock { $0 },
                        fixture
                    )
                    guard sent.token == .numbered(5), once.isFirst() else { return }
                    try await fixture.set(notification, stop.change)
                    let underWay = direct.apply(.notification(notification.id)).count
                    #expect(underWay == 2, "two of the page have begun")
                    most.withLock { $0 = accepted + underWay }
                    try await self.check(notification, isInFlight: true, most: accepted + underWay, fixture)
                } catch { Issue.record("\(error)") }
            }
            while try await dispatcher.step() {
                try await self.check(notification, isInFlight: false, most: most.withLock { $0 }, fixture)
            }
            #expect(most.withLock { $0 } == 4, "1, 3, 4 and 5")
            #expect(try await self.check(notification, isInFlight: false, most: 4, fixture) == 4)
            guard stop.change != .cancel else {
                try await fixture.settle(dispatcher, after: .seconds(60), times: 3)
                #expect(try await self.check(notification, isInFlight: false, most: 4, fixture) == 4)
                #expect(try await fixture.progress(of: notification).progress.retrying == 0)
                return
            }
            most.withLock { $0 = nil }
            try await fixture.set(notification, .resume)
            try await fixture.settle(dispatcher, after: .seconds(60), times: 3)
            #expect(try await self.check(notification, isInFlight: false, most: nil, fixture) == 8)
            try await fixture.store.expect(notification, .done, accepted: 8, recipients: 8)
        }
    }
}
