import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// What belongs to users of the time before, and how long it does.
@Suite(.timeLimit(.patience)) struct FormerUserTests {
    private func at(_ seconds: Int64) -> Timestamp { Vectors.issuedAt.advanced(by: .seconds(seconds)) }

    private func register(
        _ user: String,
        at seconds: Int64,
        _ store: any ProviderStore,
        _ app: Int64,
        _ change: (inout DeviceRegistration) -> Void = { _ in }
    ) async throws {
        try await store.register(1, app: app, now: self.at(seconds)) {
            $0.user = .set(user)
            change(&$0)
        }
    }

    private func deliveries(of user: String, _ store: any ProviderStore, _ app: Int64) async throws -> Int {
        var count = 0
        for period in try await store.periods(app: app, user: user, limit: 9) {
            count += try await store.deliveries(app: app, period: period, before: nil, horizon: nil, limit: 9).count
        }
        return count
    }

    /// A campaign in progress must not send to the same device again, so that it keeps its delivery until it has ended.
    @Test(arguments: StoreBackend.available)
    func whatACampaignInProgressHasGoesWhenItHasEnded(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: 0, store, app)
            let campaign = try await store.start(app: app)
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0, at: self.at(1)) }
                page.step = ShardStep(claim, cursor: 1, isLast: false, leaseUntil: self.at(60))
            }
            try await self.register("carol", at: 2, store, app)
            #expect(try await self.deliveries(of: "alice", store, app) == 1)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.at(3))
            while try await store.continueErasure(erasure, now: self.at(3)) {}
            try await store.eraseEnded(now: self.at(3))
            func left() async throws -> Int {
                try await store.deliveries(of: campaign.id, state: nil, after: nil, limit: 9).count
            }
            #expect(try await left() == 1)
            #expect(try await store.periods(app: app, user: "alice", limit: 9).isEmpty)
            #expect(try await self.deliveries(of: "carol", store, app) == 0)
            var rest = claim
            rest.cursor = 1
            try await store.commit(rest) { $0.step = .last(rest) }
            #expect(try await store.current(campaign).state == .done)
            try await store.eraseEnded(now: self.at(4))
            #expect(try await left() == 0)
            #expect(try await self.deliveries(of: "carol", store, app) == 0)
            #expect(try await store.periods(app: app, user: DeviceUsers.erased, limit: 9).isEmpty)
        }
    }

    private func send(_ store: any ProviderStore, _ app: Int64) async throws {
        let notification = try await store.start(app: app)
        let claim = try await store.claimed()
        let recipients = try await store.readAll(claim, page: 10)
        try await store.commit(claim) { page in
            page.deliveries = recipients.map { .fixture($0, at: self.at(1)) }
            page.step = .last(claim)
        }
        #expect(try await store.current(notification).state == .done)
    }

    private func expectErased(_ store: any ProviderStore, _ app: Int64) async throws {
        let periods = try await store.periods(app: app, user: "alice", limit: 9)
        #expect(periods == [UserPeriod(device: 1, until: self.at(2))])
        #expect(try await self.deliveries(of: "alice", store, app) == 1)
        let erasure = try await store.eraseUser("alice", app: app, steady: self.at(3))
        while try await store.continueErasure(erasure, now: self.at(3)) {}
        for period in periods {
            let left = try await store.deliveries(app: app, period: period, before: nil, horizon: nil, limit: 9)
            #expect(left.isEmpty)
        }
        let events = try await store.tokenEvents(app: app, token: .numbered(1), action: nil, before: nil, limit: 9)
        #expect(events.isEmpty)
    }

    @Test(arguments: StoreBackend.available)
    func aDeletedDeviceStaysItsUsers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: 0, store, app)
            try await self.send(store, app)
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.at(2))
            try await self.expectErased(store, app)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aMergedDeviceStaysItsUsers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: 0, store, app)
            try await self.send(store, app)
            try await store.register(2, app: app, now: self.at(1)) { $0.installation = "phone" }
            // The installation has that token now.
            let kept = try await store.register(1, app: app, now: self.at(2)) { $0.installation = "phone" }
            #expect(kept == 2)
            try await self.expectErased(store, app)
        }
    }

    /// A change by a clock that is behind comes after the changes before it all the same.
    @Test(arguments: StoreBackend.available)
    func usersStayInTheirOrderAfterTheClockWasSetBack(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: 0, store, app)
            try await self.send(store, app)
            try await self.register("bob", at: 100, store, app)
            try await self.register("carol", at: 50, store, app)
            try await self.register("dave", at: 60, store, app)
            #expect(try await self.deliveries(of: "alice", store, app) == 1)
            for user in ["bob", "carol", "dave"] {
                #expect(try await self.deliveries(of: user, store, app) == 0)
            }
            func period(of user: String) async throws -> UserPeriod? {
                try await store.periods(app: app, user: user, limit: 9).first
            }
            let changes = [0, 1, 2].map { self.at(100).advanced(by: .milliseconds($0)) }
            #expect(try await period(of: "bob") == UserPeriod(device: 1, since: changes[0], until: changes[1]))
            #expect(try await period(of: "carol") == UserPeriod(device: 1, since: changes[1], until: changes[2]))
            #expect(try await period(of: "dave") == UserPeriod(device: 1, since: changes[2]))
        }
    }

    /// A retry that ends because another user has the device is that of the user to whom it was sent before.
    @Test(arguments: StoreBackend.available, [EndingCause.leftAudience, .cancelled, .deviceRemoved])
    func anEndWithoutATryIsTheFormerUsers(backend: StoreBackend, cause: EndingCause) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: -1, store, app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            let recipients = try await store.readAll(claim, page: 10)
            try await self.register("carol", at: 2, store, app)
            try await store.commit(claim, now: self.at(5)) { page in
                page.deliveries = recipients.map { .fixture($0, .skipped, reason: cause.rawValue, at: self.at(5)) }
                page.step = .last(claim)
            }
            #expect(try await self.deliveries(of: "alice", store, app) == 1)
            #expect(try await self.deliveries(of: "carol", store, app) == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatWaitsSinceBeforeIsTheFormerUsers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: -1, store, app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: 1, attempts: 1, dueAt: self.at(60))]
                page.step = .last(claim)
            }
            for (since, count) in [(nil, 1), (self.at(-1), 1), (self.at(2), 0)] as [(Timestamp?, Int)] {
                let waiting = try await store.waiting(
                    app: app,
                    device: 1,
                    token: .numbered(1),
                    since: since,
                    limit: 9
                )
                #expect(waiting.count == count)
            }
        }
    }

    /// A time stays as long as notifications from it.
    @Test(arguments: StoreBackend.available)
    func aFormerUserIsForgottenAfterTheNotifications(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.register("alice", at: 0, store, app)
            let notification = try await store.start(app: app)
            try await self.register("carol", at: 2, store, app)
            func forget() async throws -> Int {
                while try await store.forget(before: self.at(86_400), limit: 100) > 0 {}
                return try await store.periods(app: app, user: "alice", limit: 9).count
            }
            #expect(try await forget() == 1)
            _ = try await store.setState(.cancel, of: notification.id, now: self.at(3))
            #expect(try await forget() == 0)
            #expect(try await store.notification(notification.id) == nil)
        }
    }

    /// Only a registration that takes the user or changes preferences makes what is in memory outdated.
    @Test(arguments: StoreBackend.available)
    func aRegistrationTellsWhatItMakesOutdated(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func expect(
                _ outdated: [Int64],
                _ number: Int = 1,
                _ reason: Comment? = nil,
                _ change: (inout DeviceRegistration) -> Void
            ) async throws {
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(number))
                registration.installation = "phone"
                change(&registration)
                let results = try await store.register([registration], app: app, now: self.at(0))
                #expect(results.flatMap(\.outdated).sorted() == outdated, reason)
            }
            let quiet = Preferences(optOuts: ["a"])
            try await expect([], 1, "it is new") { $0.preferences = .set(quiet) }
            try await expect([]) { $0.preferences = .set(quiet) }
            try await expect([], 1, "it had none") { $0.user = .set("alice") }
            try await expect([]) { $0.user = .set("alice") }
            try await expect([]) { $0.locale = .set("de") }
            try await expect([1]) { $0.preferences = .clear }
            try await expect([]) { $0.preferences = .clear }
            try await expect([], 2, "it joins the installation") { $0.kind = .voip }
            try await expect([1, 2]) { $0.preferences = .set(quiet) }
            try await expect([1, 2]) { $0.user = .clear }
        }
    }
}
