package import Foundation
package import ProviderModel
package import PushStore
package import PushTypes

/// Repeats the events of a webhook, from a time or a block on.
package struct WebhookReplay: Sendable {
    /// The first event of a replay.
    package enum Start: Hashable, Sendable {
        /// Repeats the events from this time on.
        case since(Timestamp)
        /// Repeats the events from this block on. Its number is the first one in a post's id.
        case block(Int64)
    }

    private let store: any WebhookStore

    package init(store: any WebhookStore) { self.store = store }

    /// Returns the cursor directly before the events from `start` on. Blocks that are no longer kept are skipped.
    package func cursor(for webhook: WebhookRecord, from start: Start) async throws -> Int64 {
        switch start {
        case .since(let time): try await self.store.lastEventBlock(app: webhook.app, before: time)
        case .block(let id): id > 0 ? id - 1 : 0
        }
    }

    /// Moves the webhook's cursor, back or forward, and makes the webhook due at once. The outcome of a post in flight does
    /// not move the cursor any more.
    /// - Returns: The changed record; `nil` if there is no such webhook.
    package func start(_ id: UUID, from start: Start) async throws -> WebhookRecord? {
        guard let webhook = try await self.store.webhook(id) else { return nil }
        var change = WebhookChange()
        change.cursor = try await self.cursor(for: webhook, from: start)
        return try await self.store.changeWebhook(id, change)
    }
}
