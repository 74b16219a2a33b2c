package import Foundation
package import PushProtocol
package import PushStore

/// Tells a webhook again what it has been told, from a moment or a block on.
package struct WebhookReplay: Sendable {
    package enum Start: Hashable, Sendable {
        /// Events of this moment and later.
        case since(Timestamp)
        /// This block of events and later ones; the first number in a post's id.
        case block(Int64)
    }

    /// Tries against a delivery that moves the cursor at the same time.
    private static let maximumTries = 8

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

    /// Moves the webhook's cursor, which may be forward too, and lets it begin at once.
    /// - Returns: the record as it is then; `nil` if there is no such webhook, or its cursor did not hold still.
    package func start(_ id: UUID, from start: Start) async throws -> WebhookRecord? {
        for _ in 0..<Self.maximumTries {
            guard let webhook = try await self.store.webhook(id) else { return nil }
            var moved = webhook
            moved.cursor = try await self.cursor(for: webhook, from: start)
            moved.nextTryAt = nil
            guard try await self.store.updateWebhook(moved, expectedCursor: webhook.cursor) else { return nil }
            guard let now = try await self.store.webhook(id) else { return nil }
            // A delivery may have gone on from the new cursor already, but not past where the old one was.
            let isForward = moved.cursor >= webhook.cursor
            if now.cursor == moved.cursor || (isForward ? now.cursor > moved.cursor : now.cursor < webhook.cursor) {
                return now
            }
        }
        return nil
    }
}
