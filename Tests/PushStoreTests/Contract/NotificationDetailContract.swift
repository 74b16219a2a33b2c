import PushStore
import PushTesting
import PushTypes
import Synchronization
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
            let isOver = Mutex(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    defer { isOver.withLock { $0 = true } }
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
                repeat { try await self.expectAgreement(notification, store) } while !isOver.withLock { $0 }
                try await group.waitForAll()
            }
            try await self.expectAgreement(notification, store)
            #expect(try await store.detail(of: notification.id)?.skipCounts.map(\.count) == [devices])
            #expect(try await store.outcomes(of: notification.id, limit: 9)?.deliveries.count == 9)
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
