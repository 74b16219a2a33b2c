import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``WebhookStore``.
@Suite(.timeLimit(.patience)) struct WebhookStoreContract: StoreContract {
    @Test(arguments: StoreBackend.available)
    func aWebhookReadsBackChangesAndGoes(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            #expect(try await store.webhook(webhook.id) == webhook)
            #expect(try await store.webhooks(app: app) == [webhook])
            #expect(try await store.webhooks(app: nil) == [webhook])
            #expect(try await store.webhooks(app: app + 1).isEmpty)
            var change = WebhookChange()
            change.url = "https://example.com/other"
            change.signing = .add("another")
            change.events = [.token]
            change.isActive = false
            change.cursor = 12
            change.apply(to: &webhook)
            #expect(webhook.secret == "another whisper")
            #expect(webhook.version == 1)
            #expect(try await store.changeWebhook(webhook.id, change) == webhook)
            #expect(try await store.webhook(webhook.id) == webhook)
            (change, webhook.secret, webhook.version) = (WebhookChange(), "another", 2)
            change.signing = .newest
            #expect(try await store.changeWebhook(webhook.id, change) == webhook)
            #expect(try await store.webhook(webhook.id) == webhook)
            #expect(try await store.deleteWebhook(webhook.id))
            #expect(try await !store.deleteWebhook(webhook.id))
            #expect(try await store.changeWebhook(webhook.id, change) == nil)
            #expect(try await !store.settleWebhook(webhook.id, .taken(webhook, through: 20, at: self.later)))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aReplayIsNotOvertakenByAPostInFlight(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            #expect(try await store.settleWebhook(webhook.id, .taken(webhook, through: 10, at: self.now)))
            let posted = try #require(try await store.webhook(webhook.id))
            #expect(posted.cursor == 10)
            var change = WebhookChange()
            change.cursor = 3
            #expect(try await store.changeWebhook(webhook.id, change)?.cursor == 3)
            #expect(try await store.settleWebhook(webhook.id, .taken(posted, through: 20, at: self.later)))
            let found = try #require(try await store.webhook(webhook.id))
            #expect(found.cursor == 3)
            #expect(found.lastSuccessAt == self.later)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aPostWritesNothingThatAPersonDecides(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let before = self.webhook(app)
            try await store.addWebhook(before)
            var change = WebhookChange()
            change.url = "https://example.com/other"
            change.signing = .add("new")
            change.events = [.delivery]
            change.isActive = false
            var expected = try #require(try await store.changeWebhook(before.id, change))
            #expect(try await store.settleWebhook(before.id, .taken(before, through: 10, at: self.later)))
            (expected.cursor, expected.lastSuccessAt) = (10, self.later)
            #expect(try await store.webhook(before.id) == expected)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aFailureCountsOnlyForWhatWasPosted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let before = self.webhook(app)
            try await store.addWebhook(before)
            var failed = before
            (failed.failures, failed.nextTryAt, failed.lastError) = (1, self.later, "503")
            let failure = WebhookOutcome(before: before, after: failed, isAccepted: false)
            #expect(try await store.settleWebhook(before.id, failure))
            #expect(try await store.webhook(before.id) == failed)
            var ended = failed
            (ended.failures, ended.nextTryAt, ended.isActive, ended.lastError) = (2, nil, false, "disabled: gone")
            // A person has enabled it meanwhile: that stays.
            var change = WebhookChange()
            change.isEnabled = true
            let enabled = try #require(try await store.changeWebhook(before.id, change))
            let late = WebhookOutcome(before: failed, after: ended, isAccepted: false)
            #expect(try await !store.settleWebhook(before.id, late))
            #expect(try await store.webhook(before.id) == enabled)
            ended.version = enabled.version
            #expect(
                try await store.settleWebhook(
                    before.id,
                    WebhookOutcome(before: enabled, after: ended, isAccepted: false)
                )
            )
            ended.version += 1
            #expect(try await store.webhook(before.id) == ended)
        }
    }

    @Test(arguments: StoreBackend.available)
    func eventsOfPagesAreReadInOrderAndForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            for (index, time) in [self.now, self.now, self.later].enumerated() {
                try await store.commit(claim, now: time) { page in
                    page.events = Data("{\"page\":\(index)}".utf8)
                    page.step = ShardStep(claim, cursor: claim.cursor, isLast: false, leaseUntil: self.later)
                }
            }
            func blocks(after: Int64 = 0, limit: Int = 10) async throws -> [EventBlock] {
                try await store.eventBlocks(app: app, kinds: [.delivery, .token], after: after, limit: limit)
            }
            let all = try await blocks()
            #expect(all.map { String(decoding: $0.events, as: UTF8.self) } == (0..<3).map { "{\"page\":\($0)}" })
            #expect(all.map(\.at) == [self.now, self.now, self.later])
            #expect(try await blocks(after: all[0].id, limit: 1) == [all[1]])
            let tokens = try await store.eventBlocks(app: app, kinds: [.token], after: 0, limit: 10)
            #expect(tokens.isEmpty)
            let none = try await store.eventBlocks(app: app, kinds: [], after: 0, limit: 10)
            #expect(none.isEmpty)
            #expect(try await store.lastEventBlock(app: app, before: self.later) == all[1].id)
            #expect(try await store.lastEventBlock(app: app, before: self.now) == 0)
            // Events before a webhook was added are not for it.
            let webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            #expect(try await store.webhook(webhook.id)?.cursor == all[2].id)
            #expect(try await store.forgetEvents(before: self.later) == 2)
            #expect(try await blocks() == [all[2]])
        }
    }

    @Test(arguments: StoreBackend.available)
    func anAppHasNoMoreWebhooksThanItMay(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for _ in 1...2 { #expect(try await store.addWebhook(self.webhook(app), limit: 2)) }
            #expect(try await !store.addWebhook(self.webhook(app), limit: 2))
            let webhooks = try await store.webhooks(app: app)
            #expect(webhooks.count == 2)
            let first = try #require(webhooks.first)
            #expect(try await store.deleteWebhook(first.id))
            #expect(try await store.addWebhook(self.webhook(app), limit: 2))
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsDoneToTokensIsAnEventForThoseWhoWantIt(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func tokenBlocks() async throws -> [[TokenEventRecord]] {
                try await store.eventBlocks(app: app, kinds: [.token], after: 0, limit: 10).map(\.tokens)
            }
            let id = try await store.register(1, app: app)
            try await store.apply(.deactivated(since: self.later), to: id, app: app, reason: "Unregistered")
            #expect(try await tokenBlocks().isEmpty, "no webhook wants them")
            #expect(try await !store.wants(.token, app: app))
            try await store.addWebhook(self.webhook(app))
            #expect(try await store.wants(.token, app: app))
            #expect(try await !store.wants(.token, app: app + 1))
            try await store.register(1, app: app)
            try await store.register(1, app: app)
            try await store.apply(.suspected, to: id, app: app)
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.later)
            let events = try await tokenBlocks()
            #expect(events.map { $0.map(\.action) } == [[.reactivated], [.suspected], [.deleted]])
            #expect(events.flatMap { $0 }.allSatisfy { $0.device == id && $0.token == .numbered(1) })
        }
    }

    @Test(arguments: StoreBackend.available)
    func manyTokenEventsAreManyBlocks(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.addWebhook(self.webhook(app))
            let id = try await store.register(1, app: app)
            _ = try await store.start(app: app)
            let claim = try await store.claimed()
            let change = TokenStateChange(device: id, kind: .withheld(since: self.later), reason: "Unregistered")
            try await store.commit(claim) { $0.tokenChanges = Array(repeating: change, count: 5100) }
            func sizes() async throws -> [Int] {
                try await store.eventBlocks(app: app, kinds: [.token], after: 0, limit: 10).map(\.tokens.count)
            }
            #expect(try await sizes() == [4096, 1004])
            let settled = try await store.settleWithheld(
                app: app,
                environment: .sandbox,
                deactivates: true,
                now: self.later
            )
            #expect(settled == 5100)
            #expect(try await sizes() == [4096, 1004, 1])
            #expect(try await store.devices(app: app, token: .numbered(1)).first?.isActive == false)
        }
    }

    private func webhook(_ app: Int64) -> WebhookRecord {
        WebhookRecord(
            id: UUID(),
            app: app,
            url: "https://example.com/hook",
            secret: "whisper",
            events: [.delivery, .token],
            createdAt: self.now
        )
    }
}

extension WebhookOutcome {
    fileprivate static func taken(_ webhook: WebhookRecord, through cursor: Int64, at: Timestamp) -> WebhookOutcome {
        var after = webhook
        (after.cursor, after.lastSuccessAt) = (cursor, at)
        return WebhookOutcome(before: webhook, after: after, isAccepted: true)
    }
}
