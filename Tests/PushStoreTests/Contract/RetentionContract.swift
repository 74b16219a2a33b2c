import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of retention.
@Suite(.timeLimit(.patience)) struct RetentionContract: StoreContract {
    @Test(arguments: StoreBackend.available, [1, 2, 1000])
    func whatEndedBeforeIsForgottenPieceByPiece(backend: StoreBackend, limit: Int) async throws {
        try await backend.withStore { store, app in
            let old = try await self.send(store, app, at: self.now)
            let young = try await self.send(store, app, at: self.later)
            let underWay = try await store.start(app: app)
            let cancelled = try await store.start(app: app)
            _ = try await store.setState(.cancel, of: cancelled.id, now: self.now)
            let id = try await store.register(1, app: app)
            try await store.apply(.suspected, to: id, app: app)
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.later)

            var rounds = 0
            while true {
                let count = try await store.forget(before: self.later, limit: limit)
                guard count > 0 else { break }
                #expect(count <= limit + 1)
                rounds += 1
                try #require(rounds < 100)
            }
            #expect(try await store.notification(old.id) == nil)
            #expect(try await store.notification(cancelled.id) == nil)
            for kept in [young, underWay] { #expect(try await store.current(kept).id == kept.id) }
            let deliveries = try await store.deliveries(of: young.id, state: nil, after: nil, limit: 10)
            #expect(deliveries.count == 5)
            let events = try await store.tokenEvents(app: app, token: nil, action: nil, before: nil, limit: 10)
            #expect(events.map(\.action) == [.deleted])
        }
    }

    /// A row that was written under a clock that was ahead must not block the old ones.
    @Test(arguments: StoreBackend.available)
    func whatIsOfTheFutureKeepsNothingElse(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for (number, at) in [self.later, self.now, self.now].enumerated() {
                _ = try await store.register(number, app: app)
                _ = try await store.deleteDevices(app: app, token: .numbered(number), environment: nil, now: at)
                try await store.addAudit(AuditRecord(at: at, key: nil, keyName: "key", action: "act", status: 200))
            }
            #expect(try await store.forget(before: self.later, limit: 1) == 1)
            #expect(try await store.forget(before: self.later, limit: 1) == 1)
            #expect(try await store.forget(before: self.later, limit: 1) == 0)
            let events = try await store.tokenEvents(app: app, token: nil, action: nil, before: nil, limit: 10)
            #expect(events.map(\.at) == [self.later])
            #expect(try await store.forgetAudit(before: self.later, limit: 1) == 1)
            #expect(try await store.forgetAudit(before: self.later, limit: 1) == 1)
            #expect(try await store.audit(before: nil, limit: 10).map(\.at) == [self.later])
        }
    }

    @Test(arguments: StoreBackend.available)
    func eventsOfTheFutureKeepNoOthers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for at in [self.later, self.now] {
                let notification = try await store.start(app: app, to: .tokens([.numbered(1)]))
                let claim = try await store.claimed()
                try await store.commit(claim, now: at) { page in
                    page.step = .last(claim)
                    page.events = Data("{}".utf8)
                }
                #expect(try await store.current(notification).state == .done)
            }
            #expect(try await store.forgetEvents(before: self.later) == 1)
            let blocks = try await store.eventBlocks(app: app, kinds: [.delivery], after: 0, limit: 10)
            #expect(blocks.map(\.at) == [self.later])
        }
    }

    private func send(_ store: any ProviderStore, _ app: Int64, at now: Timestamp) async throws -> NotificationRecord {
        let notification = try await store.start(app: app, to: .tokens((1...5).map { .numbered($0) }))
        let claim = try await store.claimed(now: now)
        let recipients = try await store.readAll(claim, page: 10)
        try await store.commit(claim, now: now) { page in
            page.deliveries = recipients.map { .fixture($0) }
            page.step = .last(claim)
        }
        return notification
    }
}
