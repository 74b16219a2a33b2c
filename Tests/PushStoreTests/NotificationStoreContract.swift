import Foundation
import PushProtocol
import PushStore
import PushTesting
import Testing

/// What every ledger must do.
@Suite(.timeLimit(.minutes(1))) struct NotificationStoreContract {
    let now = Vectors.issuedAt
    var lease: Timestamp { self.now.advanced(by: .seconds(60)) }

    @Test(arguments: StoreBackend.available)
    func anAcceptedNotificationReadsBackWhole(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for audience in [Audience.all, .user("alice"), .tag("beta"), .tokens([.numbered(1), .numbered(2)])] {
                let notification = try NotificationRecord.fixture(app: app, to: audience, environment: .sandbox)
                #expect(try await store.accept(notification, idempotency: nil) == .accepted)
                #expect(try await store.notification(notification.id) == notification)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func anIdempotencyKeyMakesOneOfTwo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = try NotificationRecord.fixture(app: app, to: .all)
            let key = Idempotency(key: "order-42", fingerprint: [1])
            #expect(try await store.accept(first, idempotency: key) == .accepted)
            let second = try NotificationRecord.fixture(app: app, to: .all)
            #expect(try await store.accept(second, idempotency: key) == .repeated(first))
            #expect(try await store.notification(second.id) == nil)
            let other = Idempotency(key: "order-42", fingerprint: [2])
            #expect(try await store.accept(second, idempotency: other) == .conflict)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aClaimIsExclusiveUntilItsLeaseEnds(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await Self.accept(store, app, .all)
            #expect(try await store.claim(now: self.now, until: self.lease)?.id == notification.id)
            #expect(try await store.claim(now: self.now, until: self.lease) == nil)
            #expect(try await store.claim(now: self.lease, until: self.lease)?.id == notification.id)
            try await store.releaseLeases()
            #expect(try await store.claim(now: self.now, until: self.lease)?.id == notification.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func notificationsTakeTurns(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let campaign = try await Self.accept(store, app, .all)
            try await Self.commit(store, campaign, cursor: 1, now: self.now)
            let urgent = try NotificationRecord.fixture(
                app: app,
                to: .user("alice"),
                createdAt: self.now.advanced(by: .seconds(1))
            )
            _ = try await store.accept(urgent, idempotency: nil)
            #expect(try await store.claim(now: self.now, until: self.lease)?.id == urgent.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func recipientsAreActiveDevicesOfTheEnvironmentAfterTheCursor(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var ids: [Int64] = []
            for number in 1...6 {
                let environment: PushEnvironment = number.isMultiple(of: 2) ? .sandbox : .production
                let registration = DeviceRegistration(environment: environment, token: .numbered(number))
                ids.append(try await store.register(registration, app: app, now: self.now).device.id)
            }
            var notification = try await Self.accept(store, app, .all, environment: .sandbox)
            var page = PageResult()
            page.findings = [TokenFinding(device: ids[3], verdict: .dead(since: self.lease))]
            try await store.commit(page, notification: notification.id, now: self.now)
            let first = try await store.recipients(of: notification, limit: 1)
            #expect(first.recipients.map(\.token) == [.numbered(2)])
            #expect(!first.isLast)
            notification.cursor = first.cursor
            let second = try await store.recipients(of: notification, limit: 10)
            #expect(second.recipients.map(\.token) == [.numbered(6)], "4 is inactive, the odd ones are production")
            #expect(second.isLast)
        }
    }

    @Test(arguments: StoreBackend.available)
    func namedTokensAreRecipientsWithAndWithoutADevice(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let registration = DeviceRegistration(environment: .sandbox, token: .numbered(2))
            let device = try await store.register(registration, app: app, now: self.now).device
            let audience = Audience.tokens([.numbered(1), .numbered(2)])
            var notification = try await Self.accept(store, app, audience, environment: .sandbox)
            let first = try await store.recipients(of: notification, limit: 1)
            notification.cursor = first.cursor
            let second = try await store.recipients(of: notification, limit: 2)
            let recipients = first.recipients + second.recipients
            #expect(recipients.map(\.token) == [.numbered(1), .numbered(2)])
            #expect(recipients.map(\.device) == [nil, device.id])
            #expect(Set(recipients.map(\.id)).count == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRecipientHasOneFinalStateHoweverOftenItIsCommitted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await Self.accept(store, app, .tokens([.numbered(1)]))
            let recipient = try #require(try await store.recipients(of: notification, limit: 1).recipients.first)
            var page = PageResult()
            page.cursor = 1
            page.isLast = true
            page.deliveries = [Self.delivery(recipient, .accepted)]
            try await store.commit(page, notification: notification.id, now: self.now)
            page.deliveries = [Self.delivery(recipient, .failed)]
            try await store.commit(page, notification: notification.id, now: self.now)
            page.deliveries = []
            page.retries = [RetryRecord(recipient: recipient, dueAt: self.now)]
            try await store.commit(page, notification: notification.id, now: self.now)
            let end = try #require(try await store.notification(notification.id))
            #expect(end.state == .done)
            #expect(end.counters.accepted == 1)
            #expect(end.counters.failed == 0)
            #expect(end.counters.retrying == 0)
            let deliveries = try await store.deliveries(of: notification.id, after: nil, limit: 10)
            #expect(deliveries.map(\.state) == [.accepted])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNotificationIsDoneWhenNothingWaitsForAnotherTry(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await Self.accept(store, app, .tokens([.numbered(1)]))
            var recipient = try #require(try await store.recipients(of: notification, limit: 10).recipients.first)
            recipient.attempts = 1
            var page = PageResult()
            page.cursor = 1
            page.isLast = true
            page.retries = [RetryRecord(recipient: recipient, dueAt: self.lease)]
            try await store.commit(page, notification: notification.id, now: self.now)
            #expect(try await store.notification(notification.id)?.state == .sending)
            #expect(try await store.notification(notification.id)?.counters.retrying == 1)
            #expect(try await store.nextRetry() == self.lease)
            #expect(try await store.dueRetries(now: self.now, limit: 10) == nil)
            let due = try #require(try await store.dueRetries(now: self.lease, limit: 10))
            #expect(due.1 == [recipient])
            var retried = PageResult()
            retried.deliveries = [Self.delivery(recipient, .accepted)]
            try await store.commit(retried, notification: notification.id, now: self.lease)
            #expect(try await store.notification(notification.id)?.state == .done)
            #expect(try await store.notification(notification.id)?.finishedAt == self.lease)
            #expect(try await store.nextRetry() == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func findingsChangeOnlyTheDevicesTheyMean(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            let id = try await store.register(registration, app: app, now: self.now).device.id
            func apply(_ verdict: TokenFinding.Verdict) async throws -> DeviceRecord? {
                let notification = try await Self.accept(store, app, .all)
                var page = PageResult()
                page.findings = [TokenFinding(device: id, verdict: verdict)]
                try await store.commit(page, notification: notification.id, now: self.now)
                return try await store.devices(app: app, token: .numbered(1)).first
            }
            #expect(try await apply(.suspect)?.suspicions == 1)
            #expect(try await apply(.suspect)?.suspicions == 2)
            #expect(try await apply(.good)?.suspicions == 0)
            #expect(try await apply(.dead(since: self.now))?.isActive == true, "it registered at that very moment")
            #expect(try await apply(.dead(since: self.lease))?.isActive == false)
            let again = try await store.register(registration, app: app, now: self.lease)
            #expect(again.device.isActive, "registering again brings it back")
        }
    }

    static func accept(
        _ store: any PushStore,
        _ app: Int64,
        _ audience: Audience,
        environment: PushEnvironment? = nil
    ) async throws -> NotificationRecord {
        let notification = try NotificationRecord.fixture(app: app, to: audience, environment: environment)
        _ = try await store.accept(notification, idempotency: nil)
        return notification
    }

    private static func commit(
        _ store: any PushStore,
        _ notification: NotificationRecord,
        cursor: Int64,
        now: Timestamp
    ) async throws {
        var page = PageResult()
        page.cursor = cursor
        try await store.commit(page, notification: notification.id, now: now)
    }

    private static func delivery(_ recipient: Recipient, _ state: DeliveryRecord.State) -> DeliveryRecord {
        DeliveryRecord(
            recipient: recipient,
            state: state,
            apnsID: "id",
            reason: nil,
            attempts: 1,
            at: Vectors.issuedAt
        )
    }
}
