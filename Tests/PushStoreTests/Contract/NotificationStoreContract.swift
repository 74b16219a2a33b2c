import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of every ``NotificationStore``.
@Suite(.timeLimit(.patience)) struct NotificationStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func anAcceptedNotificationReadsBackWhole(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let version = try #require(AppVersion("2.10"))
            let audiences: [Audience] = [
                .devices(.everyone), .devices(.user("alice")), .tokens([.numbered(1), .numbered(2)]),
                .devices(.and([.tag("beta"), .not(.or([.locale("de"), .appVersion(.below, version)]))])),
            ]
            for audience in audiences {
                var notification = try NotificationRecord.fixture(app: app, to: audience, environment: .sandbox)
                notification.guarantee = .atMostOnce
                notification.lane = .urgent
                notification.delivery = try DeliveryTime(stored: ["at": .integer(1000)])
                notification.pace = .rate(1)
                notification.content.expiration = .at(seconds: self.later.seconds)
                notification.content.isTemplate = true
                notification.startsAt = self.later
                notification.state = .scheduled
                notification.run = ScheduleRun(schedule: UUID(), at: self.now)
                notification.progress.recipients = 2
                notification.progress.ahead.nextPageAt = .atOnce
                #expect(try await store.accept(notification, shards: [], idempotency: nil) == .accepted)
                #expect(try await store.notification(notification.id) == notification)
            }
            #expect(try await store.notification(UUID()) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anIdempotencyKeyMakesOneOfTwo(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var first = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
            first.progress.ahead = .oneShard(at: self.now)
            let key = Idempotency(key: "order-42", fingerprint: [1])
            #expect(try await store.accepted(key, app: app) == nil)
            #expect(
                try await store.accept(first, shards: [ShardPlan(notBefore: self.now)], idempotency: key) == .accepted
            )
            let second = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
            #expect(
                try await store.accept(second, shards: [ShardPlan(notBefore: self.now)], idempotency: key)
                    == .repeated(first)
            )
            #expect(try await store.notification(second.id) == nil)
            let other = Idempotency(key: "order-42", fingerprint: [2])
            #expect(try await store.accepted(key, app: app) == .repeated(first))
            #expect(try await store.accepted(other, app: app) == .conflict)
            #expect(try await store.accepted(key, app: app + 1) == nil)
            #expect(
                try await store.accept(second, shards: [ShardPlan(notBefore: self.now)], idempotency: other)
                    == .conflict
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func oneRunOfAScheduleIsOneNotification(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var first = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
            first.run = ScheduleRun(schedule: UUID(), at: self.now)
            first.progress.ahead = .oneShard(at: self.now)
            #expect(
                try await store.accept(first, shards: [ShardPlan(notBefore: self.now)], idempotency: nil) == .accepted
            )
            var second = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
            second.run = first.run
            #expect(
                try await store.accept(second, shards: [ShardPlan(notBefore: self.now)], idempotency: nil)
                    == .repeated(first)
            )
            second.run?.at = self.later
            #expect(
                try await store.accept(second, shards: [ShardPlan(notBefore: self.now)], idempotency: nil) == .accepted
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRunIsAcceptedOnlyForTheCurrentSchedule(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let schedule = try ScheduleRecord.fixture(app: app)
            try await store.addSchedule(schedule)
            func accept(_ minute: Int, version: Int64) async throws -> Acceptance {
                var notification = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
                notification.run = ScheduleRun(schedule: schedule.id, at: self.now.advanced(by: .seconds(minute)))
                let plan = [ShardPlan(notBefore: self.now)]
                return try await store.accept(
                    notification,
                    shards: plan,
                    idempotency: nil,
                    scheduleVersion: version
                )
            }
            #expect(try await accept(1, version: 0) == .accepted)
            try await store.changeSchedule(schedule.id, .pause(version: nil))
            for version: Int64 in [0, 1] { #expect(try await accept(2, version: version) == .scheduleChanged) }
            try await store.changeSchedule(schedule.id, .resume(nextRunAt: self.now, version: 1))
            #expect(try await accept(3, version: 1) == .scheduleChanged)
            #expect(try await accept(4, version: 2) == .accepted)
            #expect(try await store.deleteSchedule(schedule.id))
            #expect(try await accept(5, version: 2) == .scheduleChanged)
            let listed = try await store.notifications(app: app, state: nil, before: nil, limit: 10)
            #expect(listed.notifications.count == 2)
            // An accepted notification stays as it is.
            guard case .repeated = try await accept(4, version: 2) else {
                Issue.record("this run was accepted before")
                return
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func notificationsAreListedNewestFirstInPages(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let other = try await store.addApp(bundleID: try #require(Topic("b")), name: nil, now: self.now).app.id
            var ids: [UUID] = []
            for number in 0..<7 {
                let mine = try await store.start(app: app) { $0.state = number < 5 ? .accepted : .scheduled }
                _ = try await store.start(app: other)
                ids.insert(mine.id, at: 0)
            }
            func list(_ state: NotificationRecord.State?, page: Int) async throws -> [UUID] {
                var (found, before) = ([UUID](), NotificationCursor?.none)
                repeat {
                    let (part, next) = try await store.notifications(
                        app: app,
                        state: state,
                        before: before,
                        limit: page
                    )
                    found += part.map(\.id)
                    before = next
                } while before != nil
                return found
            }
            #expect(try await list(nil, page: 3) == ids)
            #expect(try await list(nil, page: 7) == ids)
            #expect(try await list(.scheduled, page: 1) == Array(ids.prefix(2)))
            #expect(try await list(.done, page: 1).isEmpty)
            let (all, _) = try await store.notifications(app: nil, state: nil, before: nil, limit: 100)
            #expect(all.count == 14)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aResumedNotificationContinuesWhereItWas(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let scheduled = try await store.start(app: app, shards: []) { $0.state = .scheduled }
            let accepted = try await store.start(app: app)
            for (notification, state) in [(scheduled, NotificationRecord.State.scheduled), (accepted, .accepted)] {
                let paused = try await store.setState(
                    .pause(reason: "wait"),
                    of: notification.id,
                    now: self.now
                )
                #expect(paused?.state == .paused)
                #expect(paused?.progress.pauseReason == "wait")
                let resumed = try await store.setState(.resume, of: notification.id, now: self.now)
                #expect(resumed?.state == state)
                #expect(resumed?.progress.pauseReason == nil)
                #expect(try await store.setState(.resume, of: notification.id, now: self.now) == resumed)
            }
            #expect(try await store.setState(.resume, of: UUID(), now: self.now) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsCancelledStaysCancelled(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let notification = try await store.start(app: app)
            let cancelled = try await store.setState(.cancel, of: notification.id, now: self.now)
            #expect(cancelled?.state == .cancelled)
            #expect(cancelled?.progress.finishedAt == self.now)
            for change: StateChange in [.pause(reason: nil), .resume, .cancel] {
                #expect(try await store.setState(change, of: notification.id, now: self.later) == cancelled)
            }
            #expect(try await store.claim(lane: .bulk, now: self.now, until: self.later, limit: 1).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func deliveriesAreFoundByRecipientPrefixDeviceAndToken(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(1, app: app)
            let bulk = try await store.start(app: app)
            let first = try await self.sendAll(store, bulk, .bulk, at: self.now)
            let urgent = try await store.start(app: app, to: .tokens([.numbered(1), .numbered(2)])) { notification in
                notification.lane = .urgent
                notification.environment = .sandbox
            }
            let second = try await self.sendAll(store, urgent, .urgent, at: self.later)
            #expect(first.map(\.device) == [device])
            #expect(second.map(\.device) == [device, nil])

            let ofDevice = try await store.deliveries(app: app, device: device, before: nil, limit: 10)
            #expect(ofDevice.map(\.notification) == [urgent.id, bulk.id], "newest first")
            #expect(ofDevice.map(\.token) == [.numbered(1), .numbered(1)])
            let ofToken = try await store.deliveries(app: app, unregistered: .numbered(2), before: nil, limit: 10)
            #expect(ofToken.map(\.notification) == [urgent.id])
            #expect(ofToken.map(\.environment) == [.sandbox])
            let named = try await store.start(app: app, to: .tokens([.numbered(1)])) { $0.environment = .sandbox }
            _ = try await self.sendAll(store, named, .bulk, at: self.later.advanced(by: .seconds(1)))
            let all = try await store.deliveries(app: app, device: device, before: nil, limit: 10)
            #expect(all.map(\.notification) == [named.id, urgent.id, bulk.id], "whatever its lane")
            let older = try await store.deliveries(app: app, device: device, before: all[0].position, limit: 1)
            #expect(older.map(\.notification) == [urgent.id])
            let before = try await store.deliveries(
                app: app,
                unregistered: .numbered(2),
                before: ofToken[0].position,
                limit: 1
            )
            #expect(before.isEmpty)
            let unknown = try await store.deliveries(app: app, unregistered: .numbered(3), before: nil, limit: 10)
            #expect(unknown.isEmpty)

            let prefix = DeliveryPrefix(of: urgent.id)
            let found = try await store.delivery(of: prefix, recipient: second[1].id)
            #expect(found?.token == .numbered(2))
            #expect(found?.at == self.later)
            #expect(try await store.delivery(of: DeliveryPrefix(of: UUID()), recipient: device) == nil)
            #expect(try await store.delivery(of: prefix, recipient: 99) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func deliveriesAreListedByStateInPages(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...9 { try await store.register(number, app: app) }
            let notification = try await store.start(app: app)
            let recipients = try await self.sendAll(store, notification, .bulk, at: self.now) { index in
                index.isMultiple(of: 3) ? .rejected : .accepted
            }
            func list(_ state: DeliveryRecord.State?) async throws -> [Int64] {
                var (found, after) = ([Int64](), Int64?.none)
                while true {
                    let page = try await store.deliveries(of: notification.id, state: state, after: after, limit: 2)
                    found += page.map(\.recipient)
                    guard let last = page.last else { return found }
                    after = last.recipient
                }
            }
            #expect(try await list(nil) == recipients.map(\.id))
            #expect(try await list(.rejected) == [0, 3, 6].map { recipients[$0].id })
            #expect(try await list(.failed).isEmpty)
            let rejected = try await store.deliveries(of: notification.id, state: .rejected, after: nil, limit: 1)
            #expect(rejected.first?.reason == "Because")
            #expect(rejected.first?.attempts == 1)
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.now)
            let orphan = try await store.deliveries(of: notification.id, state: nil, after: nil, limit: 1).first
            #expect(orphan?.recipient == recipients[0].id)
            #expect(orphan?.token == nil, "the device is gone")
        }
    }

    /// Gives every recipient of the notification a final state.
    private func sendAll(
        _ store: any ProviderStore,
        _ notification: NotificationRecord,
        _ lane: NotificationRecord.Lane,
        at: Timestamp,
        _ state: (Int) -> DeliveryRecord.State = { _ in .accepted }
    ) async throws -> [Recipient] {
        let claim = try await store.claimed(lane: lane, now: at)
        #expect(claim.notification.id == notification.id)
        let recipients = try await store.readAll(claim, page: 100)
        try await store.commit(claim, now: at) { page in
            page.deliveries = recipients.enumerated().map { index, recipient in
                let state = state(index)
                return .fixture(recipient, state, reason: state == .accepted ? nil : "Because", at: at)
            }
            page.step = .last(claim)
        }
        #expect(try await store.current(notification).state == .done)
        return recipients
    }
}

extension RemainingWork {
    /// The work of a notification with one shard, of which nothing was sent.
    fileprivate static func oneShard(at time: Timestamp) -> RemainingWork {
        var ahead = RemainingWork()
        ahead.shards = 1
        (ahead.firstShardAt, ahead.lastShardAt, ahead.nextPageAt) = (time, time, .atOnce)
        ahead.isFirstShardUnread = true
        return ahead
    }
}
