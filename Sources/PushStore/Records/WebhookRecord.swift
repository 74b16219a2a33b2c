package import Foundation
package import PushTypes

/// Where events are posted to.
package struct WebhookRecord: Hashable, Sendable {
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case delivery
        case token
    }

    package var id: UUID
    package var app: Int64
    package var url: String
    /// Signs what is posted. In the store only under the master key.
    package var secret: String
    package var events: Set<Event>
    package var isActive: Bool
    package var createdAt: Timestamp
    /// The last block of events that was taken.
    package var cursor: Int64
    /// Posts that failed since the last that was taken.
    package var failures: Int
    package var nextTryAt: Timestamp?
    package var lastError: String?
    package var lastSuccessAt: Timestamp?
    /// Rises with what people decide about it, and when it is given up.
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
        self.id = id
        self.app = app
        self.url = url
        self.secret = secret
        self.events = events
        self.isActive = isActive
        self.createdAt = createdAt
        self.cursor = cursor
        self.failures = 0
    }
}

/// Events of one app that came together, for its webhooks.
package struct EventBlock: Hashable, Sendable {
    /// The position among the app's blocks, given when it is read for the first time.
    package var id: Int64
    package var kind: WebhookRecord.Event
    package var at: Timestamp
    /// JSON values that follow each other with commas; empty where ``tokens`` are told of.
    package var events: Data
    package var tokens: [TokenEventRecord] = []

    package init(id: Int64, kind: WebhookRecord.Event, at: Timestamp, events: Data) {
        self.id = id
        self.kind = kind
        self.at = at
        self.events = events
    }
}

/// Webhooks as they are stored.
package struct WebhookList: Sendable {
    /// Oldest first.
    package var webhooks: [WebhookRecord]
    /// The ids of those that cannot be read, as they are stored.
    package var unreadable: [String]

    package init(webhooks: [WebhookRecord], unreadable: [String] = []) {
        self.webhooks = webhooks
        self.unreadable = unreadable
    }
}
