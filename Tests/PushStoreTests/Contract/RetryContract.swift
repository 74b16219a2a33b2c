import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The contract of retries.
@Suite(.timeLimit(.patience)) struct RetryContract: StoreContract {
    var dueAt: Timestamp { self.now.advanced(by: .seconds(60)) }
    var lease: Timestamp { self.now.advanced(by: .seconds(120)) }

    @Test(arguments: StoreBackend.available)
    func aNotificationIsDoneWhenNothingWaitsForAnotherTry(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, recipients) = try await self.failing(store, app, to: .tokens([.numbered(1)]))
            try await store.expect(notification, .sending, retrying: 1)
            #expect(try await store.nextDue(lane: .bulk) == self.dueAt)
            #expect(try await self.due(store, at: self.now).isEmpty)
            #expect(try await store.nextDue(lane: .bulk, after: self.dueAt) == nil)
            let claim = try #require(try await self.due(store, at: self.dueAt).first)
            var again = recipients[0]
            again.attempts = 1
            #expect(claim.notification.id == notification.id)
            #expect(claim.recipients == [.due(again)])
            #expect(try await self.due(store, at: self.dueAt).isEmpty, "it is leased")
            var page = PageResult(claim)
            page.deliveries = [.fixture(again, attempts: 2)]
            _ = try await store.commit([page], now: self.dueAt)
            let done = try await store.current(notification)
            #expect(done.state == .done)
            #expect(done.progress.finishedAt == self.dueAt)
            #expect(try await store.nextDue(lane: .bulk) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aLeasedRetryComesBackWhenItsLeaseEndsOrTheStoreIsRecovered(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.failing(store, app, to: .tokens([.numbered(1)]))
            #expect(try await self.due(store, at: self.dueAt).count == 1)
            #expect(try await self.due(store, at: self.lease).count == 1)
            #expect(try await store.recover(now: self.dueAt) == 0)
            #expect(try await self.due(store, at: self.dueAt).count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anotherTryIsPostponedAgain(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, recipients) = try await self.failing(store, app, to: .tokens([.numbered(1)]))
            let claim = try #require(try await self.due(store, at: self.dueAt).first)
            var page = PageResult(claim)
            page.retries = [RetryResult(recipient: recipients[0].id, attempts: 2, dueAt: self.lease)]
            let isInProgress = try await store.commit([page], now: self.dueAt)
            #expect(isInProgress == [.inProgress])
            #expect(try await store.current(notification).progress.retrying == 1)
            #expect(try await store.nextDue(lane: .bulk) == self.lease)
            let again = try #require(try await self.due(store, at: self.lease).first)
            guard case .due(let recipient)? = again.recipients.first else {
                Issue.record("the recipient is there")
                return
            }
            #expect(recipient.attempts == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anotherTryUsesWhatTheDeviceIsNow(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { $0.installation = "phone" }
            let (_, recipients) = try await self.failing(store, app, to: .devices(.everyone))
            #expect(recipients.map(\.device) == [id])
            try await store.register(2, app: app) { registration in
                registration.installation = "phone"
                registration.user = .set("alice")
            }
            let claim = try #require(try await self.due(store, at: self.dueAt).first)
            guard case .due(let recipient)? = claim.recipients.first else {
                Issue.record("the device is there")
                return
            }
            #expect(recipient.id == id)
            #expect(recipient.token == .numbered(2))
            #expect(recipient.profile?.user == "alice")
        }
    }

    /// The part of a profile that a template needs is known to the dispatcher only.
    @Test(arguments: StoreBackend.available)
    func anotherTryOfATemplateHasTheWholeProfile(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app) { registration in
                registration.locale = .set("de-DE")
                registration.attributes = ["plan": .set(.string("pro"))]
            }
            for isTemplate in [true, false] {
                _ = try await store.start(app: app) { $0.content.isTemplate = isTemplate }
                let claim = try await store.claimed()
                try await store.commit(claim) { page in
                    page.retries = [RetryResult(recipient: id, attempts: 1, dueAt: self.now)]
                    page.step = .last(claim)
                }
                let due = try #require(try await self.due(store, at: self.now).first)
                guard case .due(let recipient)? = due.recipients.first else {
                    Issue.record("the device is there")
                    return
                }
                #expect(recipient.profile?.locale == (isTemplate ? "de-DE" : nil))
                #expect(recipient.profile?.attributes == (isTemplate ? Data(#"{"plan":"pro"}"#.utf8) : nil))
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatIsGoneIsEnded(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app)
            _ = try await self.failing(store, app, to: .devices(.everyone))
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.now)
            let claim = try #require(try await self.due(store, at: self.dueAt).first)
            #expect(
                claim.recipients == [.ended(EndedRetry(id: id, recipient: nil, attempts: 1, cause: .deviceRemoved))]
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTryInTheOtherEnvironmentSaysWhereItCameFrom(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try await store.register(1, app: app, environment: .production)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [
                    RetryResult(recipient: id, environment: .sandbox, attempts: 1, dueAt: self.now)
                ]
                page.step = .last(claim)
            }
            let due = try #require(try await self.due(store, at: self.now).first)
            guard case .due(let recipient)? = due.recipients.first else {
                Issue.record("the device is there")
                return
            }
            #expect(recipient.environment == .sandbox)
            #expect(recipient.movedFrom == .production)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theEarliestComeFirstAndNoMoreThanAskedFor(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let tokens = (1...5).map { DeviceToken.numbered($0) }
            let notification = try await store.start(app: app, to: .tokens(tokens))
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.retries = recipients.enumerated().map { index, recipient in
                    let dueAt = self.now.advanced(by: .seconds(10 - index))
                    return RetryResult(recipient: recipient.id, attempts: 1, dueAt: dueAt)
                }
                page.step = .last(claim)
            }
            let first = try #require(try await self.due(store, at: self.dueAt, limit: 2).first)
            #expect(first.recipients.count == 2)
            let ids = first.recipients.map { recipient in
                if case .due(let recipient) = recipient { recipient.id } else { Int64(0) }
            }
            #expect(Set(ids) == Set(recipients.suffix(2).map(\.id)))
            _ = try await store.setState(.pause(reason: nil), of: notification.id, now: self.now)
            #expect(try await self.due(store, at: self.dueAt).isEmpty, "it is paused")
            #expect(try await store.nextDue(lane: .bulk) == nil)
            _ = try await store.setState(.resume, of: notification.id, now: self.now)
            #expect(try await self.due(store, at: self.dueAt).first?.recipients.count == 3)
        }
    }

    /// An app whose push service does not respond must not block the others.
    @Test(arguments: StoreBackend.available)
    func retriesAreTakenAppByAppAndNotOfThoseThatHaveEnough(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let name = try #require(Topic("com.example.Other"))
            let other = try await store.addApp(bundleID: name, name: nil, now: self.now).app.id
            _ = try await self.failing(store, app, to: .tokens([.numbered(1), .numbered(2)]))
            _ = try await self.failing(store, other, to: .tokens([.numbered(3)]))
            func apps(excluding apps: Set<Int64>) async throws -> [Int64] {
                try await self.due(store, at: self.dueAt, limit: 1, from: ClaimFilter(excluding: apps))
                    .map(\.notification.app)
            }
            #expect(try await apps(excluding: [app]) == [other])
            #expect(try await apps(excluding: [app]) == [])
            #expect(try await apps(excluding: []) == [app])
            #expect(try await apps(excluding: []) == [app])
            #expect(try await apps(excluding: []) == [])
        }
    }

    /// A lease that its owner still holds is not free after its end, and one that its owner does not hold is free
    /// before.
    @Test(arguments: StoreBackend.available)
    func whatItsOwnerHoldsIsNotTakenAgainAndWhatIsLostIsFree(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.failing(store, app, to: .tokens([.numbered(1), .numbered(2)]))
            let retry = try #require(try await self.due(store, at: self.dueAt).first)
            _ = try await store.start(app: app)
            let claim = try await store.claimed(now: self.now)
            func filter(_ fences: Set<Int64>) -> ClaimFilter {
                ClaimFilter(held: .init(fences: fences, upTo: max(retry.fence, claim.fence)))
            }
            func claims(_ now: Timestamp, _ filter: ClaimFilter) async throws -> Int {
                try await store.claim(lane: .bulk, now: now, until: self.lease, limit: 9, from: filter).count
            }
            let held = filter([retry.fence, claim.fence])
            #expect(try await self.due(store, at: self.lease, from: held).isEmpty)
            #expect(try await claims(self.lease, held) == 0)
            let onTheirWay = ClaimFilter(held: .init(fences: [], upTo: 0))
            #expect(try await self.due(store, at: self.dueAt, from: onTheirWay).isEmpty, "the claim may be on its way")
            let lost = filter([])
            #expect(try await self.due(store, at: self.dueAt, from: lost).flatMap(\.recipients).count == 2)
            #expect(try await claims(self.now, lost) == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTryUnderALostLeaseIsNotWritten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (notification, recipients) = try await self.failing(store, app, to: .tokens([.numbered(1)]))
            let late = try #require(try await self.due(store, at: self.dueAt).first)
            let next = try #require(try await self.due(store, at: self.lease).first)
            #expect(next.fence > late.fence)
            var page = PageResult(late)
            page.deliveries = [.fixture(recipients[0], .rejected, attempts: 2)]
            #expect(try await store.commit([page], now: self.lease) == [.leaseLost])
            #expect(try await store.current(notification).progress.finished == 0)
            page = PageResult(next)
            page.deliveries = [.fixture(recipients[0], attempts: 2)]
            #expect(try await store.commit([page], now: self.lease) == [.inProgress])
            #expect(try await store.current(notification).progress.accepted == 1)
        }
    }

    /// A device that moved between the zones of two pages in flight: the second page holds the recipient that the first
    /// one sends.
    private func moved(_ store: any ProviderStore, _ app: Int64) async throws -> (Int64, [ShardClaim]) {
        let device = try await store.register(1, app: app)
        let shards = ["Asia/Tokyo", "Europe/Berlin"].map { ShardPlan(zone: .named($0), notBefore: self.now) }
        _ = try await store.start(app: app, shards: shards) { $0.guarantee = .atMostOnce }
        return (device, try await store.claim(lane: .bulk, now: self.now, until: self.lease, limit: 2))
    }

    @Test(arguments: StoreBackend.available)
    func whatAnotherPageHoldsIsNotTakenFromARetryInFlight(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (device, claims) = try await self.moved(store, app)
            try #require(claims.count == 2)
            try await store.commit(claims[0]) { page in
                page.retries = [RetryResult(recipient: device, attempts: 1, dueAt: self.dueAt)]
                page.step = .last(claims[0])
            }
            let retry = try #require(try await self.due(store, at: self.dueAt).first)
            try await store.commit(claims[1]) { page in
                page.retries = [.held(device)]
                page.step = .last(claims[1])
            }
            #expect(try await self.due(store, at: self.dueAt).isEmpty, "it is in flight")
            var page = PageResult(retry)
            for case .due(let recipient) in retry.recipients { page.deliveries.append(.fixture(recipient)) }
            _ = try await store.commit([page], now: self.dueAt)
            #expect(try await store.current(retry.notification).state == .done)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatAnotherPageHoldsStaysBegun(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (device, claims) = try await self.moved(store, app)
            try #require(claims.count == 2)
            var page = PageResult(claims[0])
            page.step = .last(claims[0])
            page.deliveries = [
                DeliveryResult(recipient: device, device: device, state: .sending, attempts: 1, at: self.now)
            ]
            #expect(try await store.begin(page, now: self.now).started == [device])
            try await store.commit(claims[1]) { page in
                page.retries = [.held(device)]
                page.step = .last(claims[1])
            }
            #expect(try await store.recover(now: self.now) == 1, "it may have been sent")
        }
    }

    /// Makes a notification whose recipients all wait for another try.
    private func failing(
        _ store: any ProviderStore,
        _ app: Int64,
        to audience: Audience
    ) async throws -> (NotificationRecord, [Recipient]) {
        let notification = try await store.start(app: app, to: audience)
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 10)
        let isInProgress = try await store.commit(claim) { page in
            page.retries = recipients.map { RetryResult(recipient: $0.id, attempts: 1, dueAt: self.dueAt) }
            page.step = .last(claim)
        }
        #expect(isInProgress)
        return (notification, recipients)
    }

    private func due(
        _ store: any ProviderStore,
        at now: Timestamp,
        limit: Int = 10,
        from filter: ClaimFilter = ClaimFilter()
    ) async throws -> [RetryClaim] {
        try await store.dueRetries(lane: .bulk, now: now, until: self.lease, limit: limit, from: filter)
    }
}
