package import Foundation
package import ProviderModel
package import PushTypes

/// The webhooks, and the events for them.
package protocol WebhookStore: Sendable {
    /// Adds a webhook unless its app has `limit` of them.
    /// - Returns: `true` if it was added.
    func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool
    /// Returns the webhooks of an app, or of all apps.
    func readWebhooks(app: Int64?) async throws -> WebhookList
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func webhook(_ id: UUID) async throws -> WebhookRecord?
    /// Reads a webhook and writes a person's change to it in one transaction. Concurrent changes by others and the progress
    /// of the delivery are kept.
    /// - Returns: The record after the change; `nil` if there is none.
    /// - Throws: ``DamagedRow`` if it cannot be read.
    func changeWebhook(_ id: UUID, _ change: WebhookChange) async throws -> WebhookRecord?
    /// Writes the outcome of a post: only the progress of the delivery, and only if it is still as it was at the beginning of
    /// the post.
    /// - Returns: `true` if the outcome was written. The outcome for a deleted webhook is not written, and neither is
    ///   a failure if the webhook was changed while the post was in flight.
    func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool
    /// Deletes a webhook.
    /// - Returns: `true` if there was one.
    func deleteWebhook(_ id: UUID) async throws -> Bool
    /// Returns `true` if an active webhook of the app wants events of this kind.
    func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool
    /// Returns blocks of events in the order of their positions, beginning after `after`.
    func eventBlocks(app: Int64, kinds: Set<WebhookRecord.Event>, after: Int64, limit: Int) async throws -> [EventBlock]
    /// Returns the blocks of events for a webhook with the state of their delivery, newest first, beginning before the
    /// position `before`.
    func deliveries(to webhook: WebhookRecord, before: Int64?, limit: Int) async throws -> [WebhookDeliveryRecord]
    /// Returns the position of the last block before this time; 0 if there is none.
    func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64
}

extension WebhookStore {
    /// Returns the webhooks that can be read.
    package func webhooks(app: Int64?) async throws -> [WebhookRecord] {
        try await self.readWebhooks(app: app).webhooks
    }
}

/// A change of a webhook by a person. A property that is `nil` changes nothing.
package struct WebhookChange: Hashable, Sendable {
    /// A change of the secrets that sign the posts.
    package enum Signing: Hashable, Sendable {
        /// Adds a secret. Of the earlier ones only the newest is kept.
        case add(String)
        /// Keeps only the newest secret.
        case newest
    }

    package var url: String?
    package var events: Set<WebhookRecord.Event>?
    package var isActive: Bool?
    package var signing: Signing?
    /// The position of the block after which the delivery continues at once.
    package var cursor: Int64?
    /// Indicates whether a webhook that was disabled because of its failures is enabled again. It continues from its
    /// cursor, and its failures are forgotten.
    package var isEnabled = false

    package init() {}

    /// Applies the change to a record, which gets the next version.
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

/// A post that a receiver has acknowledged.
package struct AcknowledgedPost: Hashable, Sendable {
    /// The positions of the first and the last block of the post.
    package var first, last: Int64
    package var postedAt, acknowledgedAt: Timestamp

    package init(first: Int64, last: Int64, postedAt: Timestamp, acknowledgedAt: Timestamp) {
        (self.first, self.last) = (first, last)
        (self.postedAt, self.acknowledgedAt) = (postedAt, acknowledgedAt)
    }
}

/// The outcome of a post to a webhook.
package struct WebhookOutcome: Hashable, Sendable {
    /// The record at the beginning of the post.
    package var before: WebhookRecord
    /// The record after the post. Only its cursor, failures, times, last error and activity are used.
    package var after: WebhookRecord
    /// Indicates whether the receiver accepted the post.
    package var isAccepted: Bool
    /// The blocks and the beginning of an accepted post; `nil` if there was nothing to post.
    package var post: AcknowledgedPost?

    package init(before: WebhookRecord, after: WebhookRecord, isAccepted: Bool, post: AcknowledgedPost? = nil) {
        (self.before, self.after, self.isAccepted, self.post) = (before, after, isAccepted, post)
    }

    /// Returns the record to be stored after this outcome; `nil` if the outcome does not apply to `stored`.
    ///
    /// An accepted post moves the cursor only if it is still where the post began, so that a replay that was started
    /// meanwhile continues. A failed post applies only to the version at its beginning.
    package func applied(to stored: WebhookRecord) -> WebhookRecord? {
        var stored = stored
        if self.isAccepted {
            if stored.cursor == self.before.cursor { stored.cursor = self.after.cursor }
            stored.lastSuccessAt = self.after.lastSuccessAt
        } else {
            guard stored.version == self.before.version else { return nil }
            // Disabling a webhook is a change like one by a person.
            if stored.isActive, !self.after.isActive { stored.version += 1 }
            stored.isActive = self.after.isActive
        }
        stored.failures = self.after.failures
        stored.nextTryAt = self.after.nextTryAt
        stored.lastError = self.after.lastError
        return stored
    }
}
