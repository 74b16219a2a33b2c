import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``ChannelStore``, and of broadcasts in the ledger.
@Suite(.timeLimit(.patience)) struct ChannelStoreContract: StoreContract {
    private func channel(
        _ id: String,
        _ app: Int64,
        _ environment: PushEnvironment = .sandbox,
        name: String? = nil
    ) throws -> ChannelRecord {
        let id = try #require(ChannelID(id))
        return ChannelRecord(
            id: id,
            app: app,
            environment: environment,
            storage: .newest,
            name: name,
            createdAt: self.now
        )
    }

    @Test(arguments: StoreBackend.available)
    func channelsAreThoseOfTheirAppAndEnvironment(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (first, second) = (try self.channel("Yg==", app, name: "match 1"), try self.channel("YQ==", app))
            let production = try self.channel("YQ==", app, .production)
            for channel in [first, second, production] {
                #expect(try await store.addChannel(channel) == channel)
            }
            #expect(try await store.channels(app: app, environment: nil) == [second, first, production])
            #expect(try await store.channels(app: app, environment: .production) == [production])
            #expect(try await store.channels(app: app + 1, environment: nil).isEmpty)
            #expect(try await store.channel(second.id, app: app, environment: .production) == production)
            #expect(try await store.channel(first.id, app: app, environment: .production) == nil)
            #expect(try await store.channel(first.id, app: app + 1, environment: nil) == nil)
            // Without an environment that of a channel that is there precedes, then sandbox.
            #expect(try await store.channel(second.id, app: app, environment: nil) == second)
            _ = try await store.channelDeleted(second.id, app: app, environment: .sandbox, at: self.later)
            #expect(try await store.channel(second.id, app: app, environment: nil) == production)
            var newest = try self.channel("YA==", app)
            newest.createdAt = self.later
            _ = try await store.addChannel(newest)
            #expect(try await store.channels(app: app, environment: nil) == [first, newest, production])
            // The same one again keeps its name.
            #expect(try await store.addChannel(try self.channel("Yg==", app)).name == "match 1")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aDeletedChannelIsKnownForAWhile(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let channel = try self.channel("YQ==", app)
            func delete() async throws -> Bool {
                try await store.channelDeleted(channel.id, app: app, environment: .sandbox, at: self.later)
            }
            #expect(try await delete() == false)
            _ = try await store.addChannel(channel)
            #expect(try await delete())
            #expect(try await delete() == false)
            #expect(try await store.channels(app: app, environment: nil).isEmpty)
            #expect(try await store.channel(channel.id, app: app, environment: nil)?.deletedAt == self.later)
            // What is there after all counts again.
            #expect(try await store.addChannel(channel) == channel)
            #expect(try await delete())
            var next = try self.channel("Yg==", app)
            next.createdAt = self.later.advanced(by: .seconds(91 * 86_400))
            _ = try await store.addChannel(next)
            #expect(try await store.channel(channel.id, app: app, environment: nil) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func channelsGoWithTheirApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.addChannel(try self.channel("YQ==", app))
            _ = try await store.eraseApp(app, now: self.now, steady: self.now)
            #expect(try await store.channels(app: app, environment: nil).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBroadcastHasOneRecipientWithoutAToken(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            // The devices of the app have nothing to do with it.
            try await store.register(1, app: app)
            let id = try #require(ChannelID("dGVzdC0x"))
            let audience = Audience.channel(BroadcastChannel(id: id, storage: .none))
            let notification = try await store.start(app: app, to: audience) { notification in
                (notification.environment, notification.progress.recipients) = (.sandbox, 1)
            }
            #expect(try await store.current(notification).audience == audience)
            let claim = try await store.claimed()
            #expect(claim.notification.audience == audience)
            let recipients = try await store.readAll(claim, page: 10)
            #expect(recipients.map(\.id) == [-1] && recipients.map(\.device) == [nil])
            #expect(recipients.map(\.environment) == [.sandbox])
            try await store.commit(claim) { page in
                page.deliveries = recipients.map { .fixture($0) }
                page.step = .last(claim)
            }
            #expect(try await store.current(notification).state == .done)
            let deliveries = try await store.deliveries(
                of: notification.id,
                state: nil,
                reason: nil,
                after: nil,
                limit: 10
            )
            #expect(deliveries.map(\.recipient) == [-1] && deliveries.map(\.token) == [nil])
            #expect(deliveries.map(\.environment) == [.sandbox])
        }
    }

    @Test(arguments: StoreBackend.available)
    func aBroadcastIsTriedAgainLikeOthers(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let id = try #require(ChannelID("dGVzdC0x"))
            _ = try await store.start(app: app, to: .channel(BroadcastChannel(id: id, storage: .newest))) {
                ($0.environment, $0.progress.recipients) = (.production, 1)
            }
            let claim = try await store.claimed()
            try await store.commit(claim) { page in
                page.retries = [RetryResult(recipient: -1, environment: nil, attempts: 1, dueAt: self.now)]
                page.step = .last(claim)
            }
            let retries = try await store.dueRetries(
                lane: .bulk,
                now: self.later,
                until: self.later.advanced(by: .seconds(60)),
                limit: 10,
                from: ClaimFilter()
            )
            guard case .due(let recipient)? = retries.first?.recipients.first else {
                Issue.record("\(retries)")
                return
            }
            #expect(recipient.id == -1 && recipient.attempts == 1 && recipient.environment == .production)
        }
    }
}
