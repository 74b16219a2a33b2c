import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of commits, and of the end of a notification.
@Suite(.timeLimit(.patience)) struct CommitContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aRecipientHasOneFinalStateHoweverOftenItIsCommitted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            let recipient = try #require(try await store.readAll(claim, page: 10).first)
            for state: DeliveryRecord.State in [.accepted, .failed, .rejected] {
                try await store.commit(claim) { page in
                    page.deliveries = [.fixture(recipient, state)]
                    page.step = .last(claim)
                }
            }
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: recipient.id, attempts: 1, dueAt: self.now)]
            }
            try await store.expect(notification, .done, accepted: 1, retrying: 0, finished: 1)
            let deliveries = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 10)
            #expect(deliveries.map(\.state) == [.accepted])
        }
    }

    @Test(arguments: StoreBackend.available)
    func severalPagesAreCommittedTogether(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var pages: [PageResult] = []
            var notifications: [NotificationRecord] = []
            for number in 1...3 {
                notifications.append(try await store.start(app: app, to: .tokens([.numbered(number)])))
                let claim = try await store.claimed()
                var page = PageResult(claim)
                page.deliveries = try await store.readAll(claim, page: 10).map { .fixture($0) }
                page.step = .last(claim)
                pages.append(page)
            }
            _ = try await store.setState(.pause(reason: nil), of: notifications[1].id, now: self.now)
            pages.append(PageResult(notificationNumber: .max))
            let results = try await store.commit(pages, now: self.now)
            #expect(results == [.inProgress, .stopped, .inProgress, .leaseLost])
            for notification in notifications {
                let current = try await store.current(notification)
                #expect(current.state == .done)
                #expect(current.progress.accepted == 1)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func everyStateAndReasonIsCounted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...6).map { .numbered($0) }))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            let states: [DeliveryRecord.State] = [.accepted, .rejected, .failed, .rejected, .accepted, .accepted]
            let long = String(repeating: "r", count: 10_000)
            try await store.commit(claim) { page in
                page.deliveries = zip(recipients, states).map { recipient, state in
                    .fixture(recipient, state, reason: state == .rejected ? long : nil)
                }
                page.step = .last(claim)
            }
            let progress = try await store.current(notification).progress
            #expect(progress.accepted == 3)
            #expect(progress.rejected == 2)
            #expect(progress.failed == 1)
            #expect(progress.lastPageAt == self.now)
            let rejected = try await store.deliveries(of: notification.id, state: .rejected, after: nil, limit: 10)
            #expect(rejected.count == 2)
            let reason = try #require(rejected.first?.reason)
            #expect(long.hasPrefix(reason))
            #expect(reason.count < 1000)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCancelledNotificationKeepsWhatItsPagesInFlightCameTo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) }))
            var claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { [claim] page in
                page.retries = [RetryResult(recipient: recipients[0].id, attempts: 1, dueAt: self.later)]
                page.step = ShardStep(claim, cursor: 1, isLast: false, leaseUntil: self.later)
            }
            claim.cursor = 1
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            try await store.commit(claim) { [claim] page in
                page.deliveries = [.fixture(recipients[1])]
                page.retries = [RetryResult(recipient: recipients[2].id, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            let cancelled = try await store.current(notification)
            #expect(cancelled.state == .cancelled)
            #expect(cancelled.progress.accepted == 1)
            #expect(cancelled.progress.retrying == 2)
            #expect(try await store.nextDue(lane: .bulk) == self.now, "they are to be ended at once")
            #expect(try await self.endDue(store) == [.cancelled, .cancelled])
            try await store.expect(notification, .cancelled, failed: 2, retrying: 0)
            let deliveries = try await store.deliveries(of: notification.id, state: .failed, after: nil, limit: 10)
            #expect(deliveries.count == 2)
            #expect(deliveries.allSatisfy { $0.reason?.contains("cancelled") == true })
            #expect(try await store.nextDue(lane: .bulk) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatAtMostOnceBeganIsUnknownAfterACrash(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) })) {
                $0.guarantee = .atMostOnce
            }
            var claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            var beginning = PageResult(claim)
            beginning.deliveries = recipients.map { .fixture($0, .sending) }
            beginning.step = .last(claim)
            #expect(try await store.begin(beginning, now: self.now).result == .inProgress)
            try await store.expect(notification, .sending, finished: 0)
            claim.cursor = claim.end
            try await store.commit(claim) { [claim] page in
                page.deliveries = [.fixture(recipients[0])]
                page.retries = [RetryResult(recipient: recipients[1].id, attempts: 1, dueAt: self.later)]
                page.step = .last(claim)
            }
            #expect(try await store.recover(now: self.now) == 1)
            #expect(try await store.recover(now: self.now) == 0)
            let recovered = try await store.current(notification)
            #expect(recovered.state == .sending, "one waits for another try: it was not sent")
            #expect(recovered.progress.accepted == 1)
            #expect(recovered.progress.retrying == 2)
            #expect(try await self.endDue(store) == [.interrupted])
            try await store.expect(notification, failed: 0, unknown: 1, retrying: 1)
            let unknown = try await store.deliveries(of: notification.id, state: .unknown, after: nil, limit: 10)
            #expect(unknown.map(\.recipient) == [recipients[2].id])
            #expect(unknown.first?.reason?.contains("at most once") == true)
        }
    }

    /// The knowledge of a lost response outlives the wait for another try, and ends of any kind.
    @Test(arguments: StoreBackend.available)
    func aRetryRemembersThatItMayHaveArrived(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) }))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.retries = recipients.map { recipient in
                    var retry = RetryResult(recipient: recipient.id, attempts: 1, dueAt: self.now)
                    retry.mayHaveArrived = recipient.id != recipients[2].id
                    return retry
                }
                page.step = .last(claim)
            }
            let first = try #require(try await self.due(store).first)
            let claimed = first.recipients.compactMap { if case .due(let recipient) = $0 { recipient } else { nil } }
            #expect(claimed.filter(\.mayHaveArrived).map(\.id).sorted() == recipients.prefix(2).map(\.id).sorted())
            var page = PageResult(first)
            page.deliveries = [.fixture(recipients[0])]
            page.retries = claimed.filter { $0.id != recipients[0].id }.map { recipient in
                var retry = RetryResult(recipient: recipient.id, attempts: 1, dueAt: self.now)
                retry.mayHaveArrived = recipient.mayHaveArrived
                return retry
            }
            _ = try await store.commit([page], now: self.now)
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            #expect(try await self.endDue(store) == [.cancelled, .cancelled])
            try await store.expect(notification, .cancelled, accepted: 1, failed: 1, unknown: 1, retrying: 0)
        }
    }

    /// Two processes, or a lease that ended too soon, must not send to one recipient twice.
    @Test(arguments: StoreBackend.available)
    func whatAtMostOnceBeginsIsBegunByOneOnly(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) }))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            func begin(_ some: some Sequence<Recipient>) async throws -> StartedPage {
                var page = PageResult(claim)
                page.deliveries = some.map { .fixture($0, .sending) }
                return try await store.begin(page, now: self.now)
            }
            let first = try await begin(recipients.prefix(2))
            #expect(first.result == .inProgress)
            #expect(first.started == Set(recipients.prefix(2).map(\.id)))
            let second = try await begin(recipients)
            #expect(second.started == [recipients[2].id])
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0) }
                page.step = .last(claim)
            }
            let third = try await begin(recipients)
            #expect(third.started.isEmpty)
            #expect(third.result == .leaseLost)
            #expect(try await store.current(notification).progress.accepted == 3)
        }
    }

    @Test(arguments: StoreBackend.available)
    func recoveringEndsANotificationThatWaitedForNothingElse(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0, .sending) }
                page.step = .last(claim)
            }
            #expect(try await store.recover(now: self.now) == 1)
            #expect(try await self.endDue(store) == [.interrupted])
            #expect(try await store.current(notification).state == .done)
        }
    }

    /// A retry in flight of a cancelled notification has not ended: its outcome counts.
    @Test(arguments: StoreBackend.available)
    func whatIsTriedAgainWhileItIsCancelledKeepsItsTruth(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: recipients[0].id, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            let retry = try #require(try await self.due(store).first)
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            #expect(try await self.due(store).isEmpty, "it is claimed")
            var page = PageResult(retry)
            page.deliveries = [.fixture(recipients[0])]
            _ = try await store.commit([page], now: self.now)
            try await store.expect(notification, .cancelled, accepted: 1, failed: 0, retrying: 0)
        }
    }

    private func due(_ store: any ProviderStore) async throws -> [RetryClaim] {
        try await store.dueRetries(lane: .bulk, now: self.now, until: self.later, limit: 10, from: ClaimFilter())
    }

    /// Ends due recipients without another try, as the dispatcher does.
    private func endDue(_ store: any ProviderStore) async throws -> [EndingCause] {
        var causes: [EndingCause] = []
        for claim in try await self.due(store) {
            var page = PageResult(claim)
            for case .ended(let retry) in claim.recipients {
                causes.append(retry.cause)
                page.deliveries.append(
                    DeliveryResult(
                        recipient: retry.id,
                        device: nil,
                        state: retry.state,
                        reason: retry.cause.rawValue,
                        attempts: retry.attempts,
                        at: self.now
                    )
                )
            }
            _ = try await store.commit([page], now: self.now)
        }
        return causes
    }
}
