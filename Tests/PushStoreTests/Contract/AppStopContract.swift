import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The switch that stops an app.
@Suite(.timeLimit(.patience)) struct AppStopContract: StoreContract {
    private func stop(_ app: Int64, _ store: any ProviderStore, reason: String? = nil) async throws -> AppStop {
        try await store.stop(AppStop(app: app, since: self.now, reason: reason, by: nil))
    }

    @Test(arguments: StoreBackend.available)
    func nothingOfAStoppedAppIsClaimedInEitherLane(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            for lane in NotificationRecord.Lane.allCases { _ = try await store.start(app: app) { $0.lane = lane } }
            #expect(try await self.stop(app, store, reason: "first").reason == "first")
            #expect(try await self.stop(app, store, reason: "second").reason == "first", "the first stop stays")
            let until = self.now.advanced(by: .seconds(9))
            for lane in NotificationRecord.Lane.allCases {
                #expect(try await store.claim(lane: lane, now: self.now, until: until, limit: 9) == [])
                #expect(try await store.nextDue(lane: lane) == nil, "nothing wakes the dispatcher in vain")
            }
            #expect(try await store.stops().map(\.app) == [app])
            #expect(try await store.resumeApp(app))
            #expect(try await store.resumeApp(app) == false)
            for lane in NotificationRecord.Lane.allCases {
                #expect(try await store.claim(lane: lane, now: self.now, until: until, limit: 9).count == 1)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCampaignInProgressEndsItsPageAndRetriesWait(backend: StoreBackend) async throws {
        try await backend.withClaim(devices: 2) { store, notification, claim in
            let recipients = try await store.readAll(claim, page: 10)
            _ = try await self.stop(notification.app, store)
            let continues = try await store.commit(claim) { page in
                page.deliveries = [.fixture(recipients[0])]
                page.retries = [RetryResult(recipient: recipients[1].id, attempts: 1, dueAt: self.now)]
                page.step = ShardStep(claim, cursor: recipients[0].id, isLast: false, leaseUntil: self.now)
            }
            #expect(!continues)
            let until = self.now.advanced(by: .seconds(9))
            let filter = ClaimFilter()
            let held = try await store.dueRetries(lane: .bulk, now: self.now, until: until, limit: 9, from: filter)
            #expect(held.isEmpty)
            _ = try await store.resumeApp(notification.app)
            let freed = try await store.dueRetries(lane: .bulk, now: self.now, until: until, limit: 9, from: filter)
            #expect(freed.count == 1)
        }
    }
}
