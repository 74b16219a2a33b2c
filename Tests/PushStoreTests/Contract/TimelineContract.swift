import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The contract of what timelines are made of.
@Suite(.timeLimit(.patience)) struct TimelineContract: StoreContract {
    private func after(_ milliseconds: Int64) -> Timestamp { self.now.advanced(by: .milliseconds(milliseconds)) }

    private var times: PageTimes {
        PageTimes(claimedAt: self.after(1), sentAt: self.after(2), answeredAt: self.after(90))
    }

    private let connection = OpenedConnection(
        service: "api.example.com:443",
        address: "192.0.2.1:443",
        localPort: 50_123,
        openedAt: Vectors.issuedAt
    )

    /// Commits the only page of a notification to three tokens: accepted, tried again, never left.
    private func sent(_ store: any ProviderStore, _ app: Int64) async throws -> (NotificationRecord, [Recipient]) {
        let notification = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) })) { record in
            record.acceptance = AcceptanceRecord(receivedAt: self.now, checkedIn: 1500, warnings: ["to: nobody"])
        }
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 10)
        var page = PageResult(claim)
        page.times = self.times
        page.connections = [self.connection]
        page.step = .last(claim)
        page.events = Data("{}".utf8)
        var accepted = DeliveryResult.fixture(recipients[0])
        accepted.at = self.times.answeredAt
        accepted.trip = PushTrip(connection: 0, milliseconds: 42)
        page.deliveries = [accepted]
        page.retries = recipients.dropFirst().enumerated().map { index, recipient in
            var retry = RetryResult(recipient: recipient.id, attempts: 1 - index, dueAt: self.after(500))
            let trip = index == 0 ? PushTrip(connection: 0, milliseconds: 7) : nil
            retry.attempt = AttemptResult(reason: "no \(index)", wasSent: index == 0, trip: trip)
            return retry
        }
        _ = try await store.commit([page], now: self.after(100))
        return (notification, recipients)
    }

    @Test(arguments: StoreBackend.available)
    func aDeliveryFindsItsPageItsConnectionAndItsTries(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, recipients) = try await self.sent(store, app)
            let first = try #require(try await store.history(of: notification.id, recipient: recipients[0].id))
            #expect(first.delivery?.state == .accepted)
            #expect(first.connection == self.connection)
            #expect(first.milliseconds == 42)
            #expect(first.page?.times == self.times)
            #expect(first.page?.committedAt == self.after(100))
            #expect(first.page?.isRetry == false)
            #expect(first.attempts.isEmpty && first.nextTryAt == nil)
            let second = try #require(try await store.history(of: notification.id, recipient: recipients[1].id))
            #expect(second.delivery == nil)
            #expect(second.nextTryAt == self.after(500))
            let attempt = try #require(second.attempts.first)
            #expect(attempt.wasSent && attempt.reason == "no 0" && attempt.milliseconds == 7)
            #expect(attempt.connection == self.connection)
            let third = try #require(try await store.history(of: notification.id, recipient: recipients[2].id))
            #expect(third.attempts.map(\.wasSent) == [false])
            #expect(third.attempts.first?.connection == nil)
            #expect(try await store.history(of: UUID(), recipient: 1) == nil)
            let waiting = try await store.waiting(app: app, device: nil, token: .numbered(2), limit: 9)
            #expect(waiting.map(\.notification) == [notification.id])
            #expect(waiting.map(\.recipient) == [recipients[1].id])
            #expect(try await store.waiting(app: app, device: 1, token: .numbered(1), limit: 9).isEmpty)
            #expect(try await store.waiting(app: app + 1, device: nil, token: .numbered(2), limit: 9).isEmpty)
            let nobody = try #require(try await store.history(of: notification.id, recipient: 77))
            #expect(nobody.delivery == nil && nobody.attempts.isEmpty && nobody.page == nil)
        }
    }

    /// A push that never leaves may be tried without end: one row counts the tries.
    @Test(arguments: StoreBackend.available)
    func triesThatNeverLeftAreOneRow(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, recipients) = try await self.sent(store, app)
            for round in 1...3 {
                let now = self.after(Int64(round) * 1000)
                let until = now.advanced(by: .seconds(1))
                let due = try await store.dueRetries(lane: .bulk, now: now, until: until, limit: 9, from: ClaimFilter())
                for claim in due {
                    var page = PageResult(claim)
                    page.times = PageTimes(claimedAt: now, sentAt: now, answeredAt: now)
                    page.retries = claim.recipients.map { recipient in
                        var retry = RetryResult(recipient: recipient.id, attempts: 0, dueAt: now)
                        retry.attempt = AttemptResult(reason: "refused", wasSent: false, trip: nil)
                        return retry
                    }
                    _ = try await store.commit([page], now: now)
                }
            }
            let third = try #require(try await store.history(of: notification.id, recipient: recipients[2].id))
            let attempt = try #require(third.attempts.first)
            #expect(third.attempts.count == 1)
            #expect(attempt.times == 4)
            #expect(attempt.firstAt == self.times.answeredAt && attempt.at == self.after(3000))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNotificationSumsItsPagesUp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, _) = try await self.sent(store, app)
            let history = try #require(try await store.history(of: notification.id))
            #expect(history.beginning.acceptance.receivedAt == self.now)
            #expect(history.beginning.acceptance.checkedIn == 1500)
            #expect(history.beginning.acceptance.warnings == ["to: nobody"])
            #expect(history.beginning.openedAt == notification.createdAt)
            #expect(history.pages?.pages == 1 && history.pages?.recipients == 1)
            #expect(history.pages?.longest == .milliseconds(88))
            #expect(history.retryPages == nil)
            #expect(try await store.notification(DeliveryPrefix(of: notification.id))?.id == notification.id)
            #expect(try await store.notification(DeliveryPrefix(bits: 1)) == nil)
        }
    }

    /// A post is remembered with the blocks that it had; a replay does not replace it.
    @Test(arguments: StoreBackend.available)
    func aPageKnowsTheFirstPostOfItsEvents(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let webhook = WebhookRecord(
                id: UUID(),
                app: app,
                url: "https://example.com/hook",
                secret: "s",
                events: [.delivery],
                createdAt: self.now,
                cursor: 0
            )
            try await store.addWebhook(webhook)
            let (notification, recipients) = try await self.sent(store, app)
            func events() async throws -> PageEvents? {
                try await store.history(of: notification.id, recipient: recipients[0].id)?.events
            }
            let waiting = try #require(try await events())
            #expect(waiting.waiting == ["https://example.com/hook"] && waiting.posts.isEmpty)
            let block = try #require(
                try await store.eventBlocks(app: app, kinds: [.delivery], after: 0, limit: 9).first
            )
            for round: Int64 in 0...1 {
                var after = webhook
                after.cursor = block.id
                let post = AcknowledgedPost(
                    first: block.id,
                    last: block.id,
                    postedAt: self.after(200 + round * 1000),
                    acknowledgedAt: self.after(220 + round * 1000)
                )
                let outcome = WebhookOutcome(before: webhook, after: after, isAccepted: true, post: post)
                #expect(try await store.settleWebhook(webhook.id, outcome))
            }
            let posted = try #require(try await events())
            #expect(posted.waiting.isEmpty)
            #expect(posted.posts.map(\.postedAt) == [self.after(200)])
            #expect(posted.posts.map(\.acknowledgedAt) == [self.after(220)])
            _ = try await store.forgetEvents(before: self.after(9000))
            #expect(try await events() == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func retentionAndErasureTakeTheTracesAlong(backend: StoreBackend) async throws {
        for isErased in [false, true] {
            try await backend.withStore { store, app in
                guard let sqlite = store as? SQLStore else { return }
                let (notification, _) = try await self.sent(store, app)
                _ = try await store.setState(.cancel, of: notification.id, now: self.now)
                if isErased {
                    let erasure = try await store.eraseApp(app, now: self.now, steady: self.now)
                    let record = try #require(erasure)
                    while try await store.continueErasure(record, now: self.after(1)) {}
                } else {
                    let before = self.after(1_000_000)
                    while try await store.forget(before: before, limit: 1) > 0 {}
                }
                #expect(try await store.history(of: notification.id) == nil)
                let left = try await sqlite.database.read { database in
                    try ["page", "attempt"].map { try database.count(sql: "SELECT count(*) FROM \($0)") }
                }
                #expect(left == [0, 0], "\(isErased)")
            }
        }
    }

    @Test func aTripIsOneNumber() {
        for (connection, milliseconds) in [(0, 0), (1, 1), (77, 131_070), (1 << 40, 5)] as [(Int64, Int32)] {
            let parts = StoredTrip.parts(StoredTrip.number(connection: connection, milliseconds: milliseconds))
            #expect(parts.connection == connection && parts.milliseconds == Int(milliseconds))
        }
        #expect(StoredTrip.parts(StoredTrip.number(connection: 3, milliseconds: .max)).milliseconds == nil)
        #expect(StoredTrip.parts(StoredTrip.number(connection: 3, milliseconds: -5)).milliseconds == 0)
    }
}
