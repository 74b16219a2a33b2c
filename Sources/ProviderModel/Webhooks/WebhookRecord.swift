package import Foundation
package import PushTypes

/// A URL to which the provider sends an app's events in POST requests.
package struct WebhookRecord: Hashable, Sendable {
    /// The kind of an event.
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case delivery
        case token
        /// The approaching and the reached expiry of a credential's certificate.
        case credential
        /// The pauses of an app's environments because of a fault, and their ends.
        case environment
        /// The receipts of apps and of the gateway.
        case receipt

        /// The kinds of events of a webhook whose request names none: all but receipts, which are numerous.
        package static let standard = Set(Self.allCases).subtracting([.receipt])
    }

    package var id: UUID
    package var app: Int64
    package var url: String
    /// The secret that signs the requests (``WebhookSecret``). The store seals it with the master key.
    package var secret: String
    package var events: Set<Event>
    package var isActive: Bool
    package var createdAt: Timestamp
    /// The position of the last block of events that the receiver accepted. Sending continues with the next block.
    package var cursor: Int64
    /// The number of requests that failed since the last accepted one, or 0 after a success.
    package var failures: Int
    package var nextTryAt: Timestamp?
    package var lastError: String?
    package var lastSuccessAt: Timestamp?
    /// The version, which rises with each change by a person, and when the webhook is disabled because of its failures.
    package var version: Int64 = 0

    package init(
        id: UUID,
        app: Int64,
        url: String,
        secret: String,
        events: Set<Event>,
        isActive: Bool = true,
        createdAt: Timestamp,
        cursor: Int64 = 0
    ) {
        (self.id, self.app, self.url, self.secret) = (id, app, url, secret)
        (self.events, self.isActive, self.createdAt, self.cursor) = (events, isActive, createdAt, cursor)
        self.failures = 0
    }
}

/// A block of events of one app, which is sent to a webhook in one request.
package struct EventBlock: Hashable, Sendable {
    /// The position among the app's blocks, which is assigned when the block is first read.
    package var id: Int64
    package var kind: WebhookRecord.Event
    package var at: Timestamp
    /// The events as JSON values with commas between them, which are empty for a block of ``tokens``.
    package var events: Data
    package var tokens: [TokenEventRecord] = []

    package init(id: Int64, kind: WebhookRecord.Event, at: Timestamp, events: Data) {
        (self.id, self.kind, self.at, self.events) = (id, kind, at, events)
    }
}

package struct WebhookList: Sendable {
    /// The webhooks that can be read, oldest first.
    package var webhooks: [WebhookRecord]
    /// The ids of the stored webhooks that cannot be read.
    package var unreadable: [String]

    package init(webhooks: [WebhookRecord], unreadable: [String] = []) {
        (self.webhooks, self.unreadable) = (webhooks, unreadable)
    }
}

/// A block of events with the state of its delivery to one webhook.
package struct WebhookDeliveryRecord: Hashable, Sendable {
    /// The position of the block, from which events can be sent again.
    package var block: Int64
    package var kind: WebhookRecord.Event
    package var at: Timestamp
    /// The stored length of the events, in bytes, or 0 for token events, which are stored in a table of their own.
    package var bytes: Int
    /// A Boolean value that indicates whether the receiver has accepted the block, or the block was skipped.
    package var isAcknowledged: Bool
    /// The times of the latest request that the receiver accepted, or `nil` if none was or it is not stored any more.
    package var postedAt, acknowledgedAt: Timestamp?

    package init(
        block: Int64,
        kind: WebhookRecord.Event,
        at: Timestamp,
        bytes: Int,
        isAcknowledged: Bool,
        postedAt: Timestamp? = nil,
        acknowledgedAt: Timestamp? = nil
    ) {
        (self.block, self.kind, self.at, self.bytes) = (block, kind, at, bytes)
        (self.isAcknowledged, self.postedAt, self.acknowledgedAt) = (isAcknowledged, postedAt, acknowledgedAt)
    }
}
