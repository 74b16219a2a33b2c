package import Foundation
package import ProviderModel
package import PushStore
package import PushTypes

/// Repeats the events of a webhook, starting at a time or a block.
package struct WebhookReplay: Sendable {
    /// The position at which a replay starts.
    package enum Start: Hashable, Sendable {
        /// The start at the first event at or after this time.
        case since(Timestamp)
        /// The start at the block with this id, which is the first number in the id of a request.
        case block(Int64)
    }

    private let store: any WebhookStore

    package init(store: any WebhookStore) { self.store = store }

    /// Returns the cursor directly before the start of the replay. Blocks that are no longer stored are skipped.
    package func cursor(for webhook: WebhookRecord, from start: Start) async throws -> Int64 {
        switch start {
        case .since(let time): try await self.store.lastEventBlock(app: webhook.app, before: time)
        case .block(let id): id > 0 ? id - 1 : 0
        }
    }

    /// Moves the webhook's cursor back or forward, and makes the webhook due immediately. A request in flight no longer
    /// moves the cursor.
    /// - Returns: The changed record, or `nil` if there is no such webhook.
    package func start(_ id: UUID, from start: Start) async throws -> WebhookRecord? {
        guard let webhook = try await self.store.webhook(id) else { return nil }
        var change = WebhookChange()
        change.cursor = try await self.cursor(for: webhook, from: start)
        return try await self.store.changeWebhook(id, change)
    }
}
