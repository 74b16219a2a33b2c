package import Foundation
package import ProviderModel
package import PushTypes

/// The store of webhooks, and of the events to be sent to them.
package protocol WebhookStore: Sendable {
    /// Adds a webhook, unless its app already has `limit` webhooks.
    /// - Returns: Whether the webhook was added.
    func addWebhook(_ webhook: WebhookRecord, limit: Int) async throws -> Bool
    /// Returns the webhooks of an app or, with `nil`, of all apps, and the ids of those that cannot be read.
    func readWebhooks(app: Int64?) async throws -> WebhookList
    /// Returns the webhook with this id, or `nil` if there is none.
    /// - Throws: ``DamagedRow`` if the webhook cannot be read.
    func webhook(_ id: UUID) async throws -> WebhookRecord?
    /// Applies a person's change to a webhook. Concurrent changes by others and the delivery's progress are preserved.
    /// - Returns: The webhook after the change, or `nil` if there is none with this id.
    /// - Throws: ``DamagedRow`` if the webhook cannot be read.
    func changeWebhook(_ id: UUID, _ change: WebhookChange) async throws -> WebhookRecord?
    /// Stores the delivery's progress after a request with events, unless it has changed since the request began.
    /// - Returns: Whether the outcome was stored. The outcome is not stored for a deleted webhook. A failure is not
    ///   stored if the webhook was changed during the request.
    func settleWebhook(_ id: UUID, _ outcome: WebhookOutcome) async throws -> Bool
    /// Deletes a webhook.
    /// - Returns: Whether there was a webhook with this id.
    func deleteWebhook(_ id: UUID) async throws -> Bool
    /// Returns whether an active webhook of the app subscribes to events of this kind.
    func wants(_ kind: WebhookRecord.Event, app: Int64) async throws -> Bool
    /// Returns blocks of events in the order of their positions, beginning after the position `after`.
    func eventBlocks(app: Int64, kinds: Set<WebhookRecord.Event>, after: Int64, limit: Int) async throws -> [EventBlock]
    /// Returns the event blocks for a webhook and the state of their delivery, newest first, beginning before the
    /// position `before` or, with `nil`, with the newest.
    func deliveries(to webhook: WebhookRecord, before: Int64?, limit: Int) async throws -> [WebhookDeliveryRecord]
    /// Returns the position of an app's last event block from before a time, or 0 if there is none.
    func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64
}

extension WebhookStore {
    /// Returns the webhooks of an app or, with `nil`, of all apps, without those that cannot be read.
    package func webhooks(app: Int64?) async throws -> [WebhookRecord] {
        try await self.readWebhooks(app: app).webhooks
    }
}

/// A change of a webhook, requested by a person. A property that is `nil` leaves its value unchanged.
package struct WebhookChange: Hashable, Sendable {
    /// A change of the secrets with which requests to the webhook are signed.
    package enum Signing: Hashable, Sendable {
        /// A change that adds a secret. Of the earlier secrets only the newest is kept.
        case add(String)
        /// A change that removes all secrets but the newest.
        case newest
    }

    package var url: String?
    package var events: Set<WebhookRecord.Event>?
    package var isActive: Bool?
    package var signing: Signing?
    /// The position after which the delivery continues immediately, as in a replay, or `nil` to keep the position.
    package var cursor: Int64?
    /// A Boolean value that indicates whether a webhook that was disabled because of failures is enabled again. The
    /// delivery continues from its cursor, and its failures are reset.
    package var isEnabled = false

    package init() {}

    /// Applies the change to a record, and increments the version of the record.
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

/// A request that brought events to a webhook and was acknowledged by the receiver.
package struct AcknowledgedPost: Hashable, Sendable {
    /// The positions of the first and the last event block in the request.
    package var first, last: Int64
    package var postedAt, acknowledgedAt: Timestamp

    package init(first: Int64, last: Int64, postedAt: Timestamp, acknowledgedAt: Timestamp) {
        (self.first, self.last) = (first, last)
        (self.postedAt, self.acknowledgedAt) = (postedAt, acknowledgedAt)
    }
}

/// The outcome of a request with events to a webhook.
package struct WebhookOutcome: Hashable, Sendable {
    /// The webhook as it was when the request began.
    package var before: WebhookRecord
    /// The webhook after the request. Only the fields that a request can change are used.
    package var after: WebhookRecord
    /// A Boolean value that indicates whether the receiver has acknowledged the request.
    package var isAccepted: Bool
    /// The acknowledged request, or `nil` if it failed or there were no events to send.
    package var post: AcknowledgedPost?

    package init(before: WebhookRecord, after: WebhookRecord, isAccepted: Bool, post: AcknowledgedPost? = nil) {
        (self.before, self.after, self.isAccepted, self.post) = (before, after, isAccepted, post)
    }

    /// Returns the webhook to be stored after this outcome, or `nil` if the outcome no longer applies to `stored`.
    ///
    /// An acknowledged request advances the cursor only if that has not moved since the request began, so that a replay
    /// that was started meanwhile continues. A failed request applies only to the version at which it began.
    package func applied(to stored: WebhookRecord) -> WebhookRecord? {
        var stored = stored
        if self.isAccepted {
            if stored.cursor == self.before.cursor { stored.cursor = self.after.cursor }
            stored.lastSuccessAt = self.after.lastSuccessAt
        } else {
            guard stored.version == self.before.version else { return nil }
            // Disabling a webhook increments the version, like a person's change.
            if stored.isActive, !self.after.isActive { stored.version += 1 }
            stored.isActive = self.after.isActive
        }
        stored.failures = self.after.failures
        stored.nextTryAt = self.after.nextTryAt
        stored.lastError = self.after.lastError
        return stored
    }
}
