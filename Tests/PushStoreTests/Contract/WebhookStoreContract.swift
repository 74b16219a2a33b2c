import Foundation
import PushProtocol
import PushStore
import PushTesting
import Testing

/// What every store of webhooks and their events must do.
@Suite(.timeLimit(.minutes(5))) struct WebhookStoreContract {
    let now = Vectors.issuedAt
    var later: Timestamp { self.now.advanced(by: .seconds(60)) }

    @Test(arguments: StoreBackend.available)
    func aWebhookReadsBackChangesAndGoes(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            #expect(try await store.webhook(webhook.id) == webhook)
            #expect(try await store.webhooks(app: app) == [webhook])
            #expect(try await store.webhooks(app: nil) == [webhook])
            #expect(try await store.webhooks(app: app + 1).isEmpty)
            webhook.url = "https://example.com/other"
            webhook.secret = "another"
            webhook.events = [.token]
            webhook.isActive = false
            webhook.failures = 3
            webhook.nextTryAt = self.later
            webhook.lastError = "503"
            webhook.lastSuccessAt = self.now
            webhook.cursor = 12
            #expect(try await store.updateWebhook(webhook, expectedCursor: 0))
            #expect(try await store.webhook(webhook.id) == webhook)
            #expect(try await store.deleteWebhook(webhook.id))
            #expect(try await !store.deleteWebhook(webhook.id))
            #expect(try await !store.updateWebhook(webhook, expectedCursor: 12))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aReplayIsNotOvertakenByAPostInFlight(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            webhook.cursor = 10
            _ = try await store.updateWebhook(webhook, expectedCursor: 0)
            var replayed = webhook
            replayed.cursor = 3
            _ = try await store.updateWebhook(replayed, expectedCursor: 10)
            webhook.cursor = 20
            webhook.lastSuccessAt = self.later
            _ = try await store.updateWebhook(webhook, expectedCursor: 10)
            let found = try #require(try await store.webhook(webhook.id))
            #expect(found.cursor == 3)
            #expect(found.lastSuccessAt == self.later)
        }
    }

    @Test(arguments: StoreBackend.available)
    func eventsOfPagesAreReadInOrderAndForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await store.claimed()
            for (index, moment) in [self.now, self.now, self.later].enumerated() {
                try await store.commit(claim, now: moment) { page in
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
            // What happened before a webhook was made is nothing to it.
            let webhook = self.webhook(app)
            try await store.addWebhook(webhook)
            #expect(try await store.webhook(webhook.id)?.cursor == all[2].id)
            #expect(try await store.forgetEvents(before: self.later) == 2)
            #expect(try await blocks() == [all[2]])
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsDoneToTokensIsAnEventForThoseWhoWantIt(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func tokenBlocks() async throws -> [[TokenEventRecord]] {
                try await store.eventBlocks(app: app, kinds: [.token], after: 0, limit: 10).map(\.tokens)
            }
            let id = try await store.register(1, app: app)
            try await store.apply(.dead(since: self.later), to: id, app: app, reason: "Unregistered")
            #expect(try await tokenBlocks().isEmpty, "nobody wants to know")
            #expect(try await !store.wants(.token, app: app))
            try await store.addWebhook(self.webhook(app))
            #expect(try await store.wants(.token, app: app))
            #expect(try await !store.wants(.token, app: app + 1))
            try await store.register(1, app: app)
            try await store.register(1, app: app)
            try await store.apply(.suspect, to: id, app: app)
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
            let finding = TokenFinding(device: id, verdict: .withheld(since: self.later), reason: "Unregistered")
            try await store.commit(claim) { $0.findings = Array(repeating: finding, count: 5100) }
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
