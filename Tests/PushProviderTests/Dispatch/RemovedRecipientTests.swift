import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Devices that are gone when the turn of the queue comes to them.
@Suite(.timeLimit(.patience)) struct RemovedRecipientTests {
    private func remove(_ number: Int, _ fixture: DispatchFixture) async throws {
        try await fixture.delete(number)
    }

    /// The device returns between the read that found it removed and the write of that.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func aDeviceThatIsBackBeforeItIsSkippedIsSentTo(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            var webhook = WebhookRecord.fixture(port: 1)
            webhook.app = fixture.app
            webhook.events = [.delivery]
            try await fixture.store.addWebhook(webhook)
            try await fixture.register(1...4)
            let notification = try await fixture.accept(["guarantee": .string(guarantee)])
            for number in 2...3 { try await self.remove(number, fixture) }
            let dispatcher = fixture.dispatcher
            _ = try await dispatcher.step()
            let due = try await dispatcher.claimRetries(.bulk)
            #expect(due.flatMap(\.recipients).count == 2)
            try await fixture.register(3...3)
            await dispatcher.retry(due)
            try await fixture.settle(dispatcher)
            try await fixture.store.expect(notification, .done, accepted: 3, skipped: 1, recipients: 4)
            #expect(Set(fixture.sentTokens) == [.numbered(1), .numbered(3), .numbered(4)])
            #expect(fixture.sentTokens.count == 3)
            let blocks = try await fixture.store.eventBlocks(
                app: fixture.app,
                kinds: [.delivery],
                after: 0,
                limit: 100
            )
            let text = blocks.map { String(decoding: $0.events, as: UTF8.self) }.joined(separator: ",")
            guard case .array(let events) = try JSONValue(parsing: Data("[\(text)]".utf8)) else {
                Issue.record("no list: \(text)")
                return
            }
            let states = events.compactMap { $0["state"].stringValue }.sorted()
            #expect(states == ["accepted", "accepted", "accepted", "skipped"])
        }
    }

    /// So that they have as long as possible to come back.
    @Test(arguments: StoreBackend.available)
    func devicesThatAreGoneComeAfterOthersThatWaited(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 1, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...3)
            // It waits for the end of the shard, because another device has its token too.
            try await fixture.register(2...2, in: .production)
            let notification = try await fixture.accept([:])
            try await self.remove(1, fixture)
            let dispatcher = fixture.dispatcher
            for claim in try await dispatcher.claimShards(.bulk, limit: 1) { try await dispatcher.sendShard(claim) }
            var ids: [Int64] = []
            while true {
                let due = try await dispatcher.claimRetries(.bulk)
                guard !due.isEmpty else { break }
                ids += due.flatMap(\.recipients).map(\.id)
                await dispatcher.retry(due)
            }
            #expect(ids == [4, 1])
            #expect(try await fixture.progress(of: notification).state == .done)
        }
    }
}
