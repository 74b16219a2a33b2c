package import Foundation
package import PushStore
package import PushTypes

/// Tells a webhook again what it has been told, from a moment or a block on.
package struct WebhookReplay: Sendable {
    package enum Start: Hashable, Sendable {
        /// Events of this moment and later.
        case since(Timestamp)
        /// This block of events and later ones; the first number in a post's id.
        case block(Int64)
    }

    private let store: any WebhookStore

    package init(store: any WebhookStore) {
        self.store = store
    }

    /// The cursor from which everything from `start` on is told. Blocks that are no longer kept are passed over.
    package func cursor(for webhook: WebhookRecord, from start: Start) async throws -> Int64 {
        switch start {
        case .since(let moment): try await self.store.lastEventBlock(app: webhook.app, before: moment)
        case .block(let id): id > 0 ? id - 1 : 0
        }
    }

    /// Moves the webhook's cursor, which may be forward too, and lets it begin at once. A post in flight does not move it
    /// on from there.
    /// - Returns: the record as it is then; `nil` if there is no such webhook.
    package func start(_ id: UUID, from start: Start) async throws -> WebhookRecord? {
        guard let webhook = try await self.store.webhook(id) else { return nil }
        var change = WebhookChange()
        change.cursor = try await self.cursor(for: webhook, from: start)
        return try await self.store.changeWebhook(id, change)
    }
}
