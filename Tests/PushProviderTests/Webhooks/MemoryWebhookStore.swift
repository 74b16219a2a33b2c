import Foundation
import ProviderModel
import PushStore
import PushTypes
import Synchronization

/// Webhooks and events in memory.
final class MemoryWebhookStore: WebhookStore {
    private struct State {
        var webhooks: [UUID: WebhookRecord] = [:]
        var blocks: [(app: Int64, block: EventBlock)] = []
        var largestRead = 0
    }

    /// The ids of webhooks that cannot be read.
    let unreadable: [String]
    private let state = Mutex(State())

    init(unreadable: [String] = []) {
        self.unreadable = unreadable
    }

    /// Most blocks that one read asked for.
    var largestRead: Int { self.state.withLock { $0.largestRead } }

    /// A block of one event for each of `numbers`, as `{"n":1}`.
    func addBlock(
        _ numbers: ClosedRange<Int>,
        app: Int64 = 1,
        kind: WebhookRecord.Event = .delivery,
        at: Timestamp = Timestamp(seconds: 1_700_000_000)
    ) {
        self.addBlock(numbers.map { #"{"n":\#($0)}"# }.joined(separator: ","), app: app, kind: kind, at: at)
    }

    func addBlock(
        _ events: String,
        app: Int64 = 1,
        kind: WebhookRecord.Event = .delivery,
        at: Timestamp = Timestamp(seconds: 1_700_000_000)
    ) {
        self.state.withLock { state in
            let id = Int64(state.blocks.count + 1)
            state.blocks.append((app, EventBlock(id: id, kind: kind, at: at, events: Data(events.utf8))))
        }
    }

    /// A change of a webhook, once, while a post is in flight.
    func change(_ id: UUID, _ change: (inout WebhookRecord) -> Void) {
        self.state.withLock { state in
            guard var webhook = state.webhooks[id] else { return }
            change(&webhook)
            webhook.version += 1
            state.webhooks[id] = webhook
        }
    }

    func wants(_ kind: WebhookRecord.Event, app: Int64) -> Bool {
        self.state.withLock { state in
            state.webhooks.values.contains { $0.app == app && $0.isActive && $0.events.contains(kind) }
        }
    }

    func addWebhook(_ webhook: WebhookRecord) {
        _ = self.addWebhook(webhook, limit: .max)
    }

    func addWebhook(_ webhook: WebhookRecord, limit: Int) -> Bool {
        self.state.withLock { state in
            guard state.webhooks.count < limit else { return false }
            state.webhooks[webhook.id] = webhook
            return true
        }
    }

    var all: [WebhookRecord] {
        self.state.withLock { $0.webhooks.values.sorted { $0.id.uuidString < $1.id.uuidString } }
    }

    func readWebhooks(app: Int64?) -> WebhookList {
        WebhookList(webhooks: self.all.filter { app == nil || $0.app == app }, unreadable: self.unreadable)
    }

    func webhook(_ id: UUID) -> WebhookRecord? {
        self.state.withLock { $0.webhooks[id] }
    }

    func changeWebhook(_ id: UUID, _ change: WebhookChange) -> WebhookRecord? {
        self.state.withLock { state in
            guard var webhook = state.webhooks[id] else { return nil }
            change.apply(to: &webhook)
            state.webhooks[id] = webhook
            return webhook
        }
    }

    func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) -> Bool {
        self.state.withLock { state in
            guard let webhook = state.webhooks[id].flatMap(outcome.applied) else { return false }
            state.webhooks[id] = webhook
            return true
        }
    }

    func deleteWebhook(_ id: UUID) -> Bool {
        self.state.withLock { $0.webhooks.removeValue(forKey: id) != nil }
    }

    func eventBlocks(app: Int64, kinds: Set<WebhookRecord.Event>, after: Int64, limit: Int) -> [EventBlock] {
        self.state.withLock { state in
            state.largestRead = max(state.largestRead, limit)
            let wanted = state.blocks.filter { $0.app == app && $0.block.id > after && kinds.contains($0.block.kind) }
            return wanted.prefix(limit).map(\.block)
        }
    }

    func deliveries(to webhook: WebhookRecord, before: Int64?, limit: Int) async throws -> [WebhookDeliveryRecord] {
        []
    }

    func lastEventBlock(app: Int64, before: Timestamp) -> Int64 {
        self.state.withLock { $0.blocks.last { $0.app == app && $0.block.at < before }?.block.id ?? 0 }
    }
}
