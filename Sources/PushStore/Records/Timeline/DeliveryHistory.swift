package import Foundation
package import PushTypes

/// Everything that is stored about a delivery, besides the notification.
package struct DeliveryHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    /// The delivery; `nil` while the recipient has no state.
    package var delivery: DeliveryRecord?
    package var connection: OpenedConnection?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
    package var page: PageRecord?
    package var attempts: [AttemptRecord]
    /// The time of the next try, by the steady clock; `nil` if there is none.
    package var nextTryAt: Timestamp?
    /// The paused environments that hold the next try; `nil` if none does.
    package var heldFor: HoldingEnvironments?
    package var events: PageEvents?
    /// The changes of the token's state that the notification led to, the oldest first.
    package var tokenEvents: [TokenEventRecord] = []
}

/// The stored steps from the request to the opening, which a notification and all its deliveries share.
package struct NotificationBeginning: Hashable, Sendable {
    package var acceptance: AcceptanceRecord
    package var openedAt: Timestamp?
}

/// Everything that is stored about a notification, besides its record.
package struct NotificationHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    package var pages: PageSummary?
    package var retryPages: PageSummary?
    /// The events of the first and of the last page.
    package var firstEvents, lastEvents: PageEvents?
}

/// A try after which there is another one.
package struct AttemptResult: Hashable, Sendable {
    package var reason: String
    /// Indicates whether the push left, so that the try counts.
    package var wasSent: Bool
    package var trip: PushTrip?

    package init(reason: String, wasSent: Bool, trip: PushTrip?) {
        (self.reason, self.wasSent, self.trip) = (reason, wasSent, trip)
    }
}

/// A try of a recipient after which there was another one.
package struct AttemptRecord: Hashable, Sendable {
    package var at: Timestamp
    /// The number of equal tries up to ``at``: only pushes that never left are more than one.
    package var times: Int
    package var firstAt: Timestamp
    package var wasSent: Bool
    package var reason: String?
    package var connection: OpenedConnection?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
}

/// A page as it is remembered.
package struct PageRecord: Hashable, Sendable {
    package var times: PageTimes
    package var committedAt: Timestamp
    /// The number of recipients that it sent to or ended.
    package var recipients: Int
    package var isRetry: Bool
    /// The block of its events for webhooks; `nil` if it has none.
    package var block: Int64?
}

/// The pages of a notification, summarized.
package struct PageSummary: Hashable, Sendable {
    package var pages: Int
    package var recipients: Int
    package var firstClaimedAt, firstSentAt, lastAnsweredAt, lastCommittedAt: Timestamp
    /// The longest time of a page from its sending to its last response.
    package var longest: Duration
}

/// The times of a page, by the later clock.
package struct PageTimes: Hashable, Sendable {
    package var claimedAt: Timestamp?
    /// The time at which the page was begun, which decides whose its deliveries are.
    package var sentAt: Timestamp
    /// The time at which all outcomes were known. It is the time of the deliveries that the page ends.
    package var answeredAt: Timestamp

    package init(claimedAt: Timestamp?, sentAt: Timestamp, answeredAt: Timestamp) {
        (self.claimedAt, self.sentAt, self.answeredAt) = (claimedAt, sentAt, answeredAt)
    }
}

/// The events of a page and their posts.
package struct PageEvents: Hashable, Sendable {
    package var at: Timestamp
    /// The first post of each webhook that had them.
    package var posts: [WebhookPostRecord]
    /// The addresses of active webhooks that want them and have not acknowledged them.
    package var waiting: [String]
}

/// A post of events to a webhook that was acknowledged.
package struct WebhookPostRecord: Hashable, Sendable {
    package var webhook: UUID
    package var url: String
    package var postedAt, acknowledgedAt: Timestamp
}

/// A recipient of a notification.
package struct RecipientKey: Hashable, Sendable {
    package var notification: UUID
    package var recipient: Int64

    package init(notification: UUID, recipient: Int64) {
        (self.notification, self.recipient) = (notification, recipient)
    }
}
