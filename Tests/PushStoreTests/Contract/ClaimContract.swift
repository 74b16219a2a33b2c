import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of claims and leases.
@Suite(.timeLimit(.patience)) struct ClaimContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aClaimIsExclusiveUntilItsLeaseEnds(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app)
            func claim(_ now: Timestamp) async throws -> [UUID] {
                try await store.claim(lane: .bulk, now: now, until: now.advanced(by: .seconds(60)), limit: 5)
                    .map(\.notification.id)
            }
            #expect(try await claim(self.now) == [notification.id])
            #expect(try await claim(self.now).isEmpty)
            #expect(try await claim(self.later) == [notification.id])
            #expect(try await store.recover(now: self.now) == 0)
            #expect(try await claim(self.now) == [notification.id])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aLeaseIsKeptOrGivenBackWithEachPage(backend: StoreBackend) async throws {
        try await backend.withClaim(devices: 4) { store, _, claimed in
            var claim = claimed
            let page = try await store.page(claim, limit: 2, needs: [])
            #expect(!page.isLast)
            func step(_ claim: ShardClaim, _ lease: Timestamp?) async throws {
                let step = ShardStep(claim, cursor: page.cursor, isLast: false, leaseUntil: lease)
                try await store.commit(claim) { $0.step = step }
            }
            try await step(claim, self.later)
            let kept = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 1)
            #expect(kept.isEmpty)
            claim.cursor = page.cursor
            try await step(claim, nil)
            let again = try await store.claimed()
            #expect(again.cursor == page.cursor)
            let rest = try await store.readAll(again, page: 10)
            #expect(rest.map(\.token) == [.numbered(3), .numbered(4)])
        }
    }

    /// A page that took so long that its shard has another owner must not move that owner's cursor.
    @Test(arguments: StoreBackend.available)
    func aPageUnderALostLeaseIsNotWritten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...4 { try await store.register(number, app: app) }
            let notification = try await store.start(app: app)
            let late = try await store.claimed()
            let next = try await store.claimed(now: self.later)
            #expect(next.fence > late.fence)
            func page(_ claim: ShardClaim) async throws -> PageResult {
                var page = PageResult(claim)
                let read = try await store.page(claim, limit: 2, needs: [])
                page.deliveries = read.recipients.map { .fixture($0) }
                page.step = ShardStep(claim, cursor: read.cursor, isLast: false, leaseUntil: self.later)
                return page
            }
            #expect(try await store.commit([try await page(late)], now: self.later) == [.leaseLost])
            #expect(try await store.current(notification).progress.finished == 0)
            let first = try await page(next)
            #expect(try await store.commit([first], now: self.later) == [.inProgress])
            #expect(try await store.commit([first], now: self.later) == [.leaseLost], "its cursor has moved")
            #expect(try await store.current(notification).progress.accepted == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPageInFlightIsWrittenThoughItsNotificationWasCancelled(backend: StoreBackend) async throws {
        try await backend.withClaim(devices: 4) { store, notification, claim in
            let read = try await store.page(claim, limit: 2, needs: [])
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            var page = PageResult(claim)
            page.deliveries = read.recipients.map { .fixture($0) }
            page.step = ShardStep(claim, cursor: read.cursor, isLast: false, leaseUntil: self.later)
            #expect(try await store.commit([page], now: self.now) == [.stopped])
            #expect(try await store.current(notification).progress.accepted == 2)
            let more = try await store.claim(lane: .bulk, now: self.later, until: self.later, limit: 1)
            #expect(more.isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func neitherLaneSeesTheOther(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let bulk = try await store.start(app: app)
            let urgent = try await store.start(app: app) { $0.lane = .urgent }
            #expect(try await store.claimed(lane: .urgent).notification.id == urgent.id)
            #expect(try await store.claimed(lane: .bulk).notification.id == bulk.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theNotificationThatWaitedLongestComesFirst(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...4 { try await store.register(number, app: app) }
            let first = try await store.start(app: app)
            let second = try await store.start(app: app)
            let claim = try await store.claimed()
            #expect(claim.notification.id == first.id)
            let step = ShardStep(claim, cursor: 1, isLast: false, leaseUntil: nil)
            try await store.commit(claim) { $0.step = step }
            #expect(try await store.claimed().notification.id == second.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func severalNotificationsAreClaimedBeforeASecondShardOfOne(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let registrations = (1...100).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            _ = try await store.register(registrations, app: app, now: self.now)
            var ids: Set<UUID> = []
            for _ in 0..<3 { ids.insert(try await store.start(app: app) { $0.progress.recipients = 1_000_000 }.id) }
            let claims = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 4)
            #expect(Set(claims.prefix(3).map(\.notification.id)) == ids)
            #expect(Set(claims.map { "\($0.notificationNumber) \($0.shard)" }).count == 4)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aShardRestsWhileTheOthersOfItsNotificationGoOn(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            let plans = [ShardPlan.Zone.unknown, .named("Asia/Tokyo")].map { ShardPlan(zone: $0, notBefore: self.now) }
            _ = try await store.start(app: app, shards: plans)
            let claim = try await store.claimed()
            let soon = self.now.advanced(by: .seconds(5))
            try await store.commit(claim) { page in
                page.step = ShardStep(claim, cursor: 0, isLast: false, leaseUntil: nil, notBefore: soon)
            }
            let others = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 5)
            #expect(others.count == 1)
            #expect(others.first?.shard != claim.shard)
            #expect(try await store.nextDue(lane: .bulk) == soon)
            #expect(try await store.claimed(now: soon).shard == claim.shard)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPacedNotificationHasOnePageAtATimeAndNotTooSoon(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            let plans = [ShardPlan.Zone.unknown, .named("Asia/Tokyo")].map { ShardPlan(zone: $0, notBefore: self.now) }
            let notification = try await store.start(app: app, shards: plans) { $0.pace = .rate(1) }
            let claims = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 5)
            let claim = try #require(claims.first)
            #expect(claims.count == 1, "one page at a time")
            let other = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 1)
            #expect(other.isEmpty)
            let soon = self.now.advanced(by: .seconds(5))
            try await store.commit(claim) { page in
                page.step = ShardStep(
                    claim,
                    cursor: claim.end,
                    isLast: true,
                    leaseUntil: nil
                )
                page.nextPageAt = soon
                page.wave = WaveProgress(startedAt: self.now, sent: 17)
            }
            #expect(try await store.nextDue(lane: .bulk) == soon)
            let early = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 1)
            #expect(early.isEmpty)
            let next = try await store.claimed(now: soon)
            #expect(next.shard != claim.shard)
            #expect(next.notification.progress.wave == WaveProgress(startedAt: self.now, sent: 17))
            #expect(try await store.current(notification).progress.startedAt == self.now)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPausedOrCancelledNotificationIsNotClaimed(backend: StoreBackend) async throws {
        try await backend.withClaim { store, notification, claim in
            _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            let step = ShardStep(claim, cursor: 0, isLast: false, leaseUntil: nil)
            let isInProgress = try await store.commit(claim) { $0.step = step }
            #expect(!isInProgress, "the page in flight learns it")
            let paused = try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 1)
            #expect(paused.isEmpty)
            #expect(try await store.nextDue(lane: .bulk) == nil)
            _ = try await store.setState(.resume, of: notification.id, now: self.now)
            let again = try await store.claimed()
            #expect(again.notification.id == notification.id)
            _ = try await store.setState(.cancel, of: notification.id, now: self.now)
            let afterCancel = try await store.commit(again) { $0.step = step }
            #expect(!afterCancel)
            #expect(try await store.current(notification).state == .cancelled)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whoeverIsPausedGivesItsShardBack(backend: StoreBackend) async throws {
        try await backend.withClaim { store, notification, claim in
            _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            try await store.commit(claim) { page in
                page.step = ShardStep(claim, cursor: 0, isLast: false, leaseUntil: self.later)
            }
            _ = try await store.setState(.resume, of: notification.id, now: self.now)
            #expect(try await store.claimed().shard == claim.shard)
        }
    }

    @Test(arguments: StoreBackend.available)
    func urgentNotificationsOfOtherAppsAreClaimedAlone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            for owner in [app, app, other] { _ = try await store.start(app: owner) { $0.lane = .urgent } }
            func claim(_ excluded: [Int64]) async throws -> [Int64] {
                let targets = Set(excluded.map { DispatchTarget(app: $0, environment: nil) })
                return try await store.claim(
                    lane: .urgent,
                    now: self.now,
                    until: self.now,
                    limit: 9,
                    from: ClaimFilter(targets: targets)
                )
                .map(\.notification.app)
            }
            let others = try await claim([app, 99])
            #expect(others == [other])
            let none = try await claim([app, other])
            #expect(none.isEmpty)
            #expect(try await claim([]).sorted() == [app, app, other].sorted())
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPageMayPauseItsNotification(backend: StoreBackend) async throws {
        try await backend.withClaim { store, notification, claim in
            let isInProgress = try await store.commit(claim) { page in
                page.step = ShardStep(claim, cursor: 0, isLast: false, leaseUntil: nil)
                page.pauses = "the provider token is rejected"
            }
            #expect(!isInProgress)
            let paused = try await store.current(notification)
            #expect(paused.state == .paused)
            #expect(paused.progress.pauseReason == "the provider token is rejected")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aScheduledNotificationIsOpenedWhenItsTimeHasCome(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            let notification = try await store.start(app: app, shards: []) { notification in
                notification.state = .scheduled
                notification.startsAt = self.later
            }
            #expect(try await store.due(now: self.now, limit: 10).isEmpty)
            #expect(try await store.nextOpening() == self.later)
            #expect(try await store.nextDue(lane: .bulk) == nil)
            #expect(try await store.due(now: self.later, limit: 10).map(\.id) == [notification.id])
            let plan = ShardPlan(notBefore: self.later)
            try await store.open(notification.id, shards: [plan], recipients: 1, now: self.later)
            try await store.open(notification.id, shards: [plan], recipients: 9, now: self.later)
            let opened = try await store.current(notification)
            #expect(opened.state == .accepted)
            #expect(opened.progress.recipients == 1, "it is opened once")
            #expect(try await store.due(now: self.later, limit: 10).isEmpty)
            let claim = try await store.claimed(now: self.later)
            #expect(try await store.readAll(claim, page: 10).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aNotificationWithoutRecipientsIsDone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let opened = try await store.start(app: app, shards: []) { $0.state = .scheduled }
            try await store.open(opened.id, shards: [], recipients: 0, now: self.now)
            #expect(try await store.current(opened).state == .done)
            let notification = try await store.start(app: app)
            let claim = try await store.claimed()
            let page = try await store.page(claim, limit: 10, needs: [])
            #expect(page.recipients.isEmpty)
            #expect(page.isLast)
            try await store.commit(claim) { $0.step = .last(claim) }
            #expect(try await store.current(notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsPausedIsDoneWithItsLastRecipient(backend: StoreBackend) async throws {
        try await backend.withClaim { store, notification, claim in
            let recipients = try await store.readAll(claim, page: 10)
            _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0) }
                page.step = .last(claim)
            }
            let done = try await store.current(notification)
            #expect(done.state == .done)
            #expect(done.progress.finishedAt == self.now)
            // Nothing is left to resume.
            let resumed = try await store.setState(.resume, of: notification.id, now: self.later)
            #expect(resumed?.progress.finishedAt == self.now)
        }
    }
}
