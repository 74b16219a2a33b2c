import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// What one answer shows of a notification is of one moment.
@Suite(.timeLimit(.patience)) struct NotificationDetailContract: StoreContract {
    /// Reads while pages are written: the counters agree with the counts by reason and with the states of the recipients.
    @Test(arguments: StoreBackend.available)
    func countersAgreeWhilePagesAreWritten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let devices = 40
            for number in 1...devices { try await store.register(number, app: app) }
            let notification = try await store.start(app: app) { $0.progress.recipients = devices }
            let first = try await store.claimed()
            let recipients = try await store.readAll(first, page: devices)
            async let isWritten: Void = self.skip(recipients, of: first, in: store)
            for _ in recipients { try await self.expectAgreement(notification, store) }
            try await isWritten
            try await self.expectAgreement(notification, store)
            #expect(try await store.detail(of: notification.id)?.skipCounts.map(\.count) == [devices])
            #expect(try await store.outcomes(of: notification.id, limit: 9)?.deliveries.count == 9)
        }
    }

    /// Skips each of the recipients in a page of its own.
    private func skip(_ recipients: [Recipient], of first: ShardClaim, in store: any ProviderStore) async throws {
        for recipient in recipients {
            var claim = first
            claim.cursor = recipient.id - 1
            let isLast = recipient.id == recipients.last?.id
            let step = ShardStep(
                claim,
                cursor: isLast ? claim.end : recipient.id,
                isLast: isLast,
                leaseUntil: isLast ? nil : self.later
            )
            try await store.commit(claim) { page in
                page.deliveries = [.fixture(recipient, .skipped, reason: "opted out")]
                page.step = step
            }
        }
    }

    private func expectAgreement(_ notification: NotificationRecord, _ store: any ProviderStore) async throws {
        let detail = try #require(try await store.detail(of: notification.id))
        let counted = detail.skipCounts.reduce(0) { $0 + $1.count }
        #expect(detail.notification.progress.skipped == counted)
        let outcomes = try #require(try await store.outcomes(of: notification.id, limit: 100))
        #expect(outcomes.notification.progress.skipped == outcomes.deliveries.count)
        #expect(outcomes.devices.isEmpty == outcomes.notification.hasEnded)
    }

    @Test(arguments: StoreBackend.available)
    func whatIsUnknownHasNoDetail(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let unknown = try NotificationRecord.fixture(app: 1, to: .devices(.everyone)).id
            #expect(try await store.detail(of: unknown) == nil)
            #expect(try await store.outcomes(of: unknown, limit: 9) == nil)
        }
    }
}
