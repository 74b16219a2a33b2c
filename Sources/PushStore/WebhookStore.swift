package import Foundation
package import PushTypes

/// Webhooks, and the events for them.
package protocol WebhookStore: Sendable {
    /// Adds a webhook, unless its app has as many as it may.
    /// - Returns: whether it was added.
    func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool
    /// Of this app, or of all.
    func readWebhooks(app: Int64?) async throws -> WebhookList
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func webhook(_ id: UUID) async throws -> WebhookRecord?
    /// Writes what a person decides, in one transaction with the reading that it needs: what others decided, and what
    /// delivery wrote, stays.
    /// - Returns: the record after the change; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func changeWebhook(_ id: UUID, _ change: WebhookChange) async throws -> WebhookRecord?
    /// Writes the outcome of a post: only delivery's own columns, and only as far as they are what the post began with.
    /// - Returns: whether the outcome counts. It does not for a webhook that is gone, and a failure not for one that was
    ///   changed while the post was in flight.
    func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool
    func deleteWebhook(_ id: UUID) async throws -> Bool
    /// Tells whether an active webhook of the app wants such events.
    func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool
    func eventBlocks(app: Int64, kinds: Set<WebhookRecord.Event>, after: Int64, limit: Int) async throws -> [EventBlock]
    /// The last block before this moment; 0 if there is none.
    func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64
    func forgetEvents(before: Timestamp) async throws -> Int
}

extension WebhookStore {
    /// Those that can be read.
    package func webhooks(app: Int64?) async throws -> [WebhookRecord] {
        try await self.readWebhooks(app: app).webhooks
    }
}

/// A change of a webhook by a person. A member that is `nil` stays as it is.
package struct WebhookChange: Hashable, Sendable {
    package enum Signing: Hashable, Sendable {
        /// Signs with this secret too; only the newest of the earlier ones stays beside it.
        case add(String)
        /// Signs with the newest secret only.
        case newest
    }

    package var url: String?
    package var events: Set<WebhookRecord.Event>?
    package var isActive: Bool?
    package var signing: Signing?
    /// Continues after this block of events, at once.
    package var cursor: Int64?
    /// Works again from where it was given up, as if nothing had failed.
    package var isEnabled = false

    package init() {}

    /// - Parameter webhook: becomes the record after the change, with the next version.
    package func apply(to webhook: inout WebhookRecord) {
        if let url { webhook.url = url }
        if let events { webhook.events = events }
        if let isActive { webhook.isActive = isActive }
        switch self.signing {
        case .add(let new): webhook.secret = WebhookSecret.adding(new, to: webhook.secret)
        case .newest: webhook.secret = WebhookSecret.newest(of: webhook.secret)
        case nil: break
        }
        if let cursor {
            webhook.cursor = cursor
            webhook.nextTryAt = nil
        }
        if self.isEnabled {
            webhook.isActive = true
            webhook.failures = 0
            webhook.nextTryAt = nil
            webhook.lastError = nil
        }
        webhook.version += 1
    }
}

/// The outcome of a post to a webhook.
package struct WebhookOutcome: Hashable, Sendable {
    /// The record that the post was made from.
    package var before: WebhookRecord
    /// That record after the post. Of it, only cursor, failures, times and last error count, and that it was given up.
    package var after: WebhookRecord
    package var isTaken: Bool

    package init(before: WebhookRecord, after: WebhookRecord, isTaken: Bool) {
        self.before = before
        self.after = after
        self.isTaken = isTaken
    }

    /// The record that is stored after this outcome; `nil` if the outcome does not count for `stored`.
    ///
    /// A post that was taken moves the cursor only from where it began, so that a replay meanwhile stays. A post that
    /// failed counts only for the version that it was made for.
    package func applied(to stored: WebhookRecord) -> WebhookRecord? {
        var stored = stored
        if self.isTaken {
            if stored.cursor == self.before.cursor { stored.cursor = self.after.cursor }
            stored.lastSuccessAt = self.after.lastSuccessAt
        } else {
            guard stored.version == self.before.version else { return nil }
            // Given up: that is a decision too.
            if stored.isActive, !self.after.isActive { stored.version += 1 }
            stored.isActive = self.after.isActive
        }
        stored.failures = self.after.failures
        stored.nextTryAt = self.after.nextTryAt
        stored.lastError = self.after.lastError
        return stored
    }
}
