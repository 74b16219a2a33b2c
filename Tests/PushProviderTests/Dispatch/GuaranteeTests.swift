import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// At most once, and pausing: pushes that are sent, and the states in the ledger.
@Suite(.timeLimit(.patience)) struct GuaranteeTests {
    @Test(arguments: StoreBackend.available)
    func atMostOnceIsOnDiskBeforeItIsSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...3)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            let store = fixture.store
            fixture.sender.onSend { sent in
                let recipient = DeliveryID.parse(sent.notification.id)
                let delivery = try? await store.delivery(
                    of: recipient?.notification ?? DeliveryPrefix(bits: 0),
                    recipient: recipient?.recipient ?? 0
                )
                #expect(delivery?.state == .sending)
            }
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 3)
            #expect(fixture.sender.sent.count == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func atMostOnceFailsInterruptedRecipientsAfterACrash(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...3)
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            // The process ends while the first page is being sent: that it was begun is all that is left of it.
            let claim = try await fixture.store.claimed(now: fixture.time.now)
            let page = try await fixture.store.page(claim, limit: 2, needs: [])
            var begun = PageResult(claim)
            begun.step = ShardStep(claim, cursor: page.cursor, isLast: false, leaseUntil: fixture.time.now)
            begun.deliveries = page.recipients.map {
                DeliveryResult(
                    recipient: $0.id,
                    device: $0.device,
                    state: .sending,
                    attempts: 1,
                    at: fixture.time.now
                )
            }
            _ = try await fixture.store.commit([begun], now: fixture.time.now)
            #expect(try await fixture.store.recover(now: fixture.time.now) == 2)
            try await fixture.settle()
            #expect(fixture.sentTokens == [.numbered(3)])
            try await fixture.store.expect(notification, .done, accepted: 1, failed: 0, unknown: 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func atMostOnceRepeatsOnlyPushesThatWereNotProcessed(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...3)
            fixture.sender.script(.numbered(1), .unknown(.init("connection lost")))
            fixture.sender.script(.numbered(2), .notSent(.init("no connection")))
            fixture.sender.script(.numbered(3), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept(["guarantee": "atMostOnce"])
            try await fixture.settle()
            try await fixture.settle(after: .seconds(3600))
            let sends = Dictionary(grouping: fixture.sentTokens) { $0 }.mapValues(\.count)
            #expect(sends == [.numbered(1): 1, .numbered(2): 2, .numbered(3): 2])
            try await fixture.store.expect(notification, .done, accepted: 2, failed: 0, unknown: 1)
        }
    }

    /// At least once gives up: what may have arrived is not called failed, whatever the last try met.
    @Test(arguments: StoreBackend.available)
    func whatMayHaveArrivedEndsAsUnknown(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...3)
            fixture.sender.script(.numbered(1), .unknown(.init("connection lost")))
            fixture.sender.script(.numbered(2), .unknown(.init("connection lost")))
            fixture.sender.script(.numbered(3), .notSent(.init("no connection")))
            let notification = try await fixture.accept(["expiresIn": 3600])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).progress.retrying == 3)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable, after: .seconds(7200)))
            fixture.sender.script(.numbered(2), .refused(410, .unregistered))
            fixture.sender.script(.numbered(3), .refused(503, .serviceUnavailable, after: .seconds(7200)))
            try await fixture.settle(after: .seconds(60))
            try await fixture.store.expect(notification, .done, rejected: 1, failed: 1, unknown: 1, recipients: 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPausedNotificationContinuesFromItsCursor(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...5)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            let paused = try await fixture.store.setState(
                .pause(reason: nil),
                of: notification.id,
                now: fixture.time.now
            )
            #expect(paused?.state == .paused)
            try await fixture.settle(dispatcher, after: .seconds(3600))
            #expect(fixture.sender.sent.count == 2)
            try await fixture.set(notification, .resume)
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 6)
            try await fixture.store.expect(notification, .done, accepted: 5)
        }
    }

    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func notificationsPausedDuringAPageContinueAtOnce(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...6)
            let notification = try await fixture.accept(["guarantee": .string(guarantee)])
            let (store, time) = (fixture.store, fixture.time)
            fixture.sender.onSend { _ in
                _ = try? await store.setState(.pause(reason: nil), of: notification.id, now: time.now)
            }
            let dispatcher = fixture.dispatcher
            try await dispatcher.sendShards()
            fixture.sender.onSend(nil)
            #expect(fixture.sender.sent.count == 2)
            _ = try await store.setState(.resume, of: notification.id, now: time.now)
            try await fixture.settle(dispatcher)
            #expect(fixture.sender.sent.count == 6)
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func cancelledNotificationsAreNotSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...5)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            try await fixture.set(notification, .cancel)
            try await fixture.settle(dispatcher, after: .seconds(3600))
            #expect(fixture.sender.sent.count == 2)
            try await fixture.store.expect(notification, .cancelled, accepted: 1, failed: 1, retrying: 0)
            try await fixture.set(notification, .resume)
            #expect(try await fixture.progress(of: notification).state == .cancelled)
        }
    }

    @Test(arguments: StoreBackend.available)
    func pagesInFlightKeepTheirResultsWhenStopped(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...4)
            fixture.sender.script(.numbered(2), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            let (store, time) = (fixture.store, fixture.time)
            fixture.sender.onSend { _ in
                _ = try? await store.setState(.cancel, of: notification.id, now: time.now)
            }
            try await fixture.settle()
            try await fixture.store.expect(notification, .cancelled, accepted: 1, failed: 1)
            #expect(fixture.sender.sent.count == 2)
        }
    }
}
