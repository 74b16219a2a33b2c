import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of notifications that are accepted in one transaction, and of those that are claimed in it.
@Suite(.timeLimit(.patience)) struct AcceptanceContract: StoreContract {
    /// Returns a request for one named token that is claimed for the caller.
    private func request(
        _ number: Int,
        app: Int64,
        key: Idempotency? = nil,
        _ change: (inout NotificationRecord) -> Void = { _ in }
    ) throws -> AcceptanceRequest {
        var notification = try NotificationRecord.fixture(
            app: app,
            to: .tokens([.numbered(number)]),
            environment: .sandbox
        )
        notification.lane = .urgent
        notification.progress.recipients = 1
        change(&notification)
        return AcceptanceRequest(
            notification,
            shards: [ShardPlan(notBefore: .atOnce)],
            idempotency: key,
            isClaimed: true
        )
    }

    private func write(
        _ requests: [AcceptanceRequest],
        pages: [PageResult] = [],
        to store: any ProviderStore
    ) async throws -> LedgerBatchResult {
        let writes = LedgerBatch(requests: requests, pages: pages)
        return try await store.write(writes, now: self.now, leaseUntil: self.later)
    }

    private func page(_ claimed: ClaimedShard, _ state: DeliveryRecord.State = .accepted) -> PageResult {
        var page = PageResult(claimed.claim)
        page.snapshot = PageSnapshot(claimed.page.recipients, clock: claimed.page.readAt)
        page.deliveries = claimed.page.recipients.map { .fixture($0, state) }
        page.step = .last(claimed.claim)
        return page
    }

    /// Its app was deleted after it had been looked up.
    @Test(arguments: StoreBackend.available)
    func aRequestOfAnAppThatIsGoneFailsAlone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let requests = try [app, app + 1000, app].enumerated().map { try self.request($0 + 1, app: $1) }
            let results = try await self.write(requests, to: store).requests
            #expect(throws: StoreError.ownerRemoved(.app)) { try results[1].get() }
            #expect(try [0, 2].map { try results[$0].get().acceptance } == [.accepted, .accepted])
        }
    }

    @Test(arguments: StoreBackend.available)
    func allOfATransactionAreAcceptedAndClaimed(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let requests = try (1...3).map { try self.request($0, app: app) }
            let results = try await self.write(requests, to: store).requests.map { try $0.get() }
            #expect(results.map(\.acceptance) == [.accepted, .accepted, .accepted])
            let claimed = try results.map { try #require($0.claimed) }
            #expect(claimed.map(\.claim.notification.id) == requests.map(\.notification.id))
            for (number, shard) in zip(1..., claimed) {
                #expect(shard.page.recipients.map(\.token) == [.numbered(number)])
                #expect(shard.page.isLast)
            }
            let found = try await store.claim(lane: .urgent, now: self.now, until: self.later, limit: 9)
            #expect(found.isEmpty, "they are claimed")
            for request in requests {
                let stored = try #require(try await store.notification(request.notification.id))
                #expect(stored.audience == request.notification.audience)
                #expect(stored.state == .accepted)
                #expect(stored.progress.ahead.isInFlight)
            }
        }
    }

    /// The shard and its page are what a claim and a reading would give.
    @Test(arguments: StoreBackend.available)
    func aClaimAtAcceptanceIsAClaim(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { registration in
                registration.user = .set("alice")
                registration.locale = .set("de")
            }
            for isTemplate in [false, true] {
                let new = try self.request(1, app: app) { $0.content.isTemplate = isTemplate }
                var unclaimed = new
                unclaimed.notification.id = UUID()
                unclaimed.isClaimed = false
                let results = try await self.write([new, unclaimed], to: store).requests.map { try $0.get() }
                let claimed = try #require(results[0].claimed)
                #expect(results[1].claimed == nil)
                let found = try await store.claimed(lane: .urgent)
                #expect(found.notification.id == unclaimed.notification.id)
                #expect(found.waitsSince == claimed.claim.waitsSince)
                #expect(found.openedAfter == claimed.claim.openedAfter)
                #expect([found.shard, found.cursor, found.end] == [0, 0, 1])
                #expect([claimed.claim.shard, claimed.claim.cursor, claimed.claim.end] == [0, 0, 1])
                let read = try await store.page(found, limit: 10, needs: unclaimed.notification.retryNeeds)
                #expect(read == claimed.page)
                let done = try await self.write(
                    [],
                    pages: [self.page(claimed), self.page(.init(found, read))],
                    to: store
                )
                #expect(done.pages == [.inProgress, .inProgress])
                for id in [new.notification.id, unclaimed.notification.id] {
                    let ended = try #require(try await store.notification(id))
                    #expect(ended.state == .done)
                    #expect(ended.progress.accepted == 1)
                    #expect(ended.progress.lastPageAt == self.now)
                }
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRepetitionWithinATransactionIsOne(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let key = Idempotency(key: "order-42", fingerprint: [1])
            let first = try self.request(1, app: app, key: key)
            let requests = [
                first, try self.request(1, app: app, key: key),
                try self.request(1, app: app, key: Idempotency(key: "order-42", fingerprint: [2])),
                try self.request(2, app: app, key: Idempotency(key: "order-43", fingerprint: [1])),
            ]
            let results = try await self.write(requests, to: store).requests.map { try $0.get() }
            #expect(results[0].acceptance == .accepted)
            guard case .repeated(let earlier) = results[1].acceptance else {
                Issue.record("the second is the same request")
                return
            }
            #expect(earlier.id == first.notification.id)
            #expect(results[2].acceptance == .conflict)
            #expect(results[3].acceptance == .accepted)
            #expect(results.map { $0.claimed != nil } == [true, false, false, true])
        }
    }

    @Test(arguments: StoreBackend.available)
    func oneThatCannotBeAcceptedFailsNoOther(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(9, app: app)
            let good = try self.request(1, app: app)
            let sameID = try self.request(2, app: app) { $0.id = good.notification.id }
            let ofNoApp = try self.request(3, app: app + 77)
            let ofOtherKind = try self.request(9, app: app) { $0.content.tokenKind = .voip }
            let requests = [good, sameID, ofNoApp, ofOtherKind, try self.request(4, app: app)]
            let results = try await self.write(requests, to: store).requests
            #expect(try results[0].get().acceptance == .accepted)
            #expect(throws: (any Error).self) { try results[1].get() }
            #expect(throws: (any Error).self) { try results[2].get() }
            #expect(try results[3].get().acceptance == .tokenOfOtherKind(.numbered(9), .alert))
            #expect(try results[4].get().acceptance == .accepted)
            let stored = try #require(try await store.notification(good.notification.id))
            #expect(stored.audience == .tokens([.numbered(1)]))
            #expect(try await store.notification(ofNoApp.notification.id) == nil)
        }
    }

    /// A token that is invalid for who had it before fails its own request, of which nothing is written.
    @Test(arguments: StoreBackend.available)
    func anInactiveTokenWritesNothingAndFailsNoOther(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await store.register(2, app: app)
            try await store.apply(.deactivated(since: self.later), to: device, app: app, reason: "Unregistered")
            let key = Idempotency(key: "event-1", fingerprint: [1])
            let refused = try self.request(2, app: app, key: key) { $0.acceptance.tokensSince = self.now }
            let requests = [
                try self.request(1, app: app) { $0.acceptance.tokensSince = self.now }, refused,
                // Of a caller that does not ask.
                try self.request(2, app: app),
            ]
            let results = try await self.write(requests, to: store).requests.map { try $0.get() }
            #expect(results.map(\.acceptance) == [.accepted, .inactiveToken(.numbered(2)), .accepted])
            #expect(results.map { $0.claimed != nil } == [true, false, true])
            #expect(try await store.notification(refused.notification.id) == nil)
            #expect(try await store.accepted(key, app: app) == nil)
            let found = try await store.claim(lane: .urgent, now: self.now, until: self.later, limit: 9)
            #expect(found.isEmpty)
        }
    }

    /// A broadcast is found by a claim, whatever its caller asks for.
    @Test(arguments: StoreBackend.available)
    func aBroadcastIsNotClaimedAtAcceptance(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try #require(ChannelID("dGVzdC0x"))
            let audience = Audience.channel(BroadcastChannel(id: id, storage: .none))
            let broadcast = try self.request(1, app: app) { $0.audience = audience }
            let results = try await self.write([try self.request(1, app: app), broadcast], to: store).requests
            let claimed = try results.map { try $0.get().claimed }
            #expect(claimed.map { $0 != nil } == [true, false])
            let claim = try await store.claimed(lane: .urgent)
            #expect(claim.notification.id == broadcast.notification.id)
            #expect(claim.notification.audience == audience)
            let page = try await store.page(claim, limit: 10, needs: [])
            #expect(page.recipients.map(\.id) == [-1] && page.isLast)
        }
    }

    /// The tokens that a page of an old provider's push has proven invalid are remembered, though it is all of its notification.
    @Test(arguments: StoreBackend.available)
    func aWholePageRemembersInvalidTokens(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let request = try self.request(1, app: app) { $0.acceptance.origin = .init(.binary, bridge: "old") }
            let result = try #require(try await self.write([request], to: store).requests.first).get()
            var page = self.page(try #require(result.claimed), .rejected)
            page.invalidTokens = [
                InvalidNamedToken(token: .numbered(1), environment: .sandbox, since: self.now, isUnregistered: true)
            ]
            #expect(try await self.write([], pages: [page], to: store).pages == [.inProgress])
            try await store.expect(request.notification, .done, rejected: 1, recipients: 1)
            let target = AppEnvironment(app: app, environment: .sandbox)
            #expect(try await store.refusedTokens([.numbered(1)], of: target) == [.numbered(1)])
        }
    }

    /// A claim that waits is asked about before it is sent, and is released if it was stopped meanwhile.
    @Test(arguments: StoreBackend.available)
    func aStoppedClaimIsKnownAndReleased(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let requests = try (1...4).map { try self.request($0, app: app) }
            let shards = try await self.write(requests, to: store).requests.map { try #require(try $0.get().claimed) }
            let claims = shards.map(\.claim)
            let ids = requests.map(\.notification.id)
            #expect(try await store.maySend(claims[0]))
            _ = try await store.setState(.pause(reason: nil), of: ids[0], now: self.now)
            _ = try await store.setState(.cancel, of: ids[1], now: self.now)
            var answers: [Bool] = []
            for claim in claims { answers.append(try await store.maySend(claim)) }
            #expect(answers == [false, false, true, true])
            _ = try await store.stop(AppStop(app: app, since: self.now, reason: nil, by: nil))
            #expect(try await !store.maySend(claims[2]))
            try await store.release(Array(claims[0...2]))
            _ = try await store.resumeApp(app)
            #expect(try await !store.maySend(claims[2]), "it is released")
            #expect(try await store.maySend(claims[3]), "its lease is that of the others")
            for (id, state) in zip(ids, [NotificationRecord.State.paused, .cancelled, .accepted, .accepted]) {
                let notification = try #require(try await store.notification(id))
                #expect(notification.state == state)
                #expect(notification.progress.startedAt == nil)
                #expect(notification.progress.ahead.isInFlight == (id == ids[3]))
            }
            #expect(try await store.notification(ids[1])?.progress.ahead.shards == 0)
            let found = try await store.claim(lane: .urgent, now: self.now, until: self.later, limit: 9)
            #expect(found.map(\.notification.id) == [ids[2]])
            _ = try await store.setState(.resume, of: ids[0], now: self.now)
            #expect(try await store.claimed(lane: .urgent).notification.id == ids[0])
            #expect(try await self.write([], pages: [self.page(shards[0])], to: store).pages == [.leaseLost])
        }
    }

    @Test(arguments: StoreBackend.available)
    func nothingOfAStoppedAppIsClaimedAtAcceptance(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.stop(AppStop(app: app, since: self.now, reason: nil, by: nil))
            let request = try self.request(1, app: app)
            let result = try #require(try await self.write([request], to: store).requests.first).get()
            #expect(result.acceptance == .accepted)
            #expect(result.claimed == nil)
            _ = try await store.resumeApp(app)
            #expect(try await store.claimed(lane: .urgent).notification.id == request.notification.id)
        }
    }

    @Test(arguments: StoreBackend.available)
    func onlyAShardThatIsAllOfItsNotificationIsClaimedAtAcceptance(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app)
            var ofDevices = try self.request(1, app: app) { $0.audience = .devices(.everyone) }
            var inParts = try self.request(2, app: app)
            inParts.shards.append(ShardPlan(notBefore: self.later))
            var scheduled = try self.request(3, app: app) { $0.state = .scheduled }
            scheduled.shards = []
            ofDevices.notification.progress.recipients = 1
            let results = try await self.write([ofDevices, inParts, scheduled], to: store).requests
            let claims = try results.map { try $0.get().claimed }
            #expect(claims == [nil, nil, nil])
        }
    }

    /// A process that ends before it has sent what it has accepted.
    @Test(arguments: StoreBackend.available)
    func aClaimAtAcceptanceIsReleasedAtTheNextStart(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let request = try self.request(1, app: app)
            let result = try #require(try await self.write([request], to: store).requests.first).get()
            let lost = try #require(result.claimed)
            #expect(try await store.recover(now: self.now) == 0)
            let again = try await store.claimed(lane: .urgent)
            #expect(again.notification.id == request.notification.id)
            #expect(again.fence > lost.claim.fence)
            #expect(try await self.write([], pages: [self.page(lost)], to: store).pages == [.leaseLost])
            let page = try await store.page(again, limit: 10, needs: [])
            let done = try await self.write([], pages: [self.page(.init(again, page))], to: store)
            #expect(done.pages == [.inProgress])
            try await store.expect(request.notification, .done, accepted: 1, recipients: 1)
        }
    }

    /// The shards of a transaction share a lease, which holds the others when one has ended.
    @Test(arguments: StoreBackend.available)
    func aSharedLeaseEndsWithItsLastShard(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let requests = try (1...3).map { try self.request($0, app: app) }
            let claimed = try await self.write(requests, to: store).requests.map { try #require(try $0.get().claimed) }
            #expect(try await self.write([], pages: [self.page(claimed[0])], to: store).pages == [.inProgress])
            // Beside new ones, and in one transaction.
            let pages = [self.page(claimed[1], .rejected), self.page(claimed[2])]
            let more = try await self.write([try self.request(4, app: app)], pages: pages, to: store)
            #expect(more.pages == [.inProgress, .inProgress])
            #expect(try await self.write([], pages: pages, to: store).pages == [.leaseLost, .leaseLost])
            try await store.expect(requests[1].notification, .done, rejected: 1, recipients: 1)
            try await store.expect(requests[2].notification, .done, accepted: 1, recipients: 1)
            let last = try #require(try more.requests.first?.get().claimed)
            #expect(try await self.write([], pages: [self.page(last)], to: store).pages == [.inProgress])
        }
    }

    /// What a person has decided meanwhile counts, and the page is written all the same.
    @Test(arguments: StoreBackend.available)
    func aPageOfAWholeNotificationIsWrittenThoughItWasStopped(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let requests = try (1...3).map { try self.request($0, app: app) }
            let claimed = try await self.write(requests, to: store).requests.map { try #require(try $0.get().claimed) }
            let ids = requests.map(\.notification.id)
            _ = try await store.setState(.pause(reason: nil), of: ids[0], now: self.now)
            _ = try await store.setState(.cancel, of: ids[1], now: self.now)
            #expect(try await self.write([], pages: [self.page(claimed[0])], to: store).pages == [.stopped])
            #expect(try await self.write([], pages: [self.page(claimed[1])], to: store).pages == [.stopped])
            _ = try await store.stop(AppStop(app: app, since: self.now, reason: nil, by: nil))
            #expect(try await self.write([], pages: [self.page(claimed[2])], to: store).pages == [.stopped])
            // The last page of a paused notification ends it.
            for (id, state) in zip(ids, [NotificationRecord.State.done, .cancelled, .done]) {
                let notification = try #require(try await store.notification(id))
                #expect(notification.state == state)
                #expect(notification.progress.accepted == 1)
            }
        }
    }

    /// The state of each recipient counts, with its reason, and the events are written.
    @Test(arguments: StoreBackend.available)
    func aWholePageWritesItsReasonsAndEvents(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let request = try self.request(1, app: app) { notification in
                notification.audience = .tokens((1...3).map { .numbered($0) })
                notification.progress.recipients = 3
            }
            let result = try #require(try await self.write([request], to: store).requests.first).get()
            var page = self.page(try #require(result.claimed))
            page.deliveries[1].state = .rejected
            page.deliveries[1].reason = "Unregistered"
            page.deliveries[2].state = .skipped
            page.deliveries[2].reason = "nobody wants it"
            page.events = Data(#"{"a":1}"#.utf8)
            page.times = PageTimes(claimedAt: self.now, sentAt: self.now, answeredAt: self.now)
            #expect(try await self.write([], pages: [page], to: store).pages == [.inProgress])
            let id = request.notification.id
            try await store.expect(request.notification, .done, accepted: 1, rejected: 1, skipped: 1, recipients: 3)
            let deliveries = try await store.deliveries(of: id, state: nil, after: nil, limit: 9)
            #expect(Set(deliveries.map(\.reason)) == [nil, "Unregistered", "nobody wants it"])
            #expect(try await store.skipCounts(of: id).map(\.count) == [1])
            let blocks = try await store.eventBlocks(app: app, kinds: [.delivery], after: 0, limit: 9)
            #expect(blocks.map(\.events) == [Data(#"{"a":1}"#.utf8)])
            let points = try await store.statistics(
                apps: [app],
                from: self.now.advanced(by: .seconds(-120)),
                to: self.now.advanced(by: .seconds(120)),
                step: .minute
            )
            #expect(points.reduce(0) { $0 + $1.accepted + $1.rejected + $1.skipped } == 3)
        }
    }
}
