package import Foundation
package import ProviderModel
package import PushTypes

/// The stored history of a delivery, without the record of its notification.
package struct DeliveryHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    /// The delivery; `nil` while the recipient has no state.
    package var delivery: DeliveryRecord?
    package var connection: OpenedConnection?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
    package var page: PageRecord?
    package var attempts: [AttemptRecord]
    /// The time of the next attempt, by the steady clock; `nil` if there is none.
    package var nextTryAt: Timestamp?
    /// The paused environments that hold the next attempt back; `nil` for none.
    package var heldFor: HoldingEnvironments?
    package var events: PageEvents?
    /// The changes of the token's state that the notification led to, the oldest first.
    package var tokenEvents: [TokenEventRecord] = []
}

/// The stored steps from the request to the opening, which all deliveries of a notification share.
package struct NotificationBeginning: Hashable, Sendable {
    package var acceptance: AcceptanceRecord
    package var openedAt: Timestamp?
}

/// The stored history of a notification, without its record.
package struct NotificationHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    package var pages: PageSummary?
    package var retryPages: PageSummary?
    /// The events of the first and of the last page.
    package var firstEvents, lastEvents: PageEvents?
}

/// The result of an attempt that is followed by another one.
package struct AttemptResult: Hashable, Sendable {
    package var reason: String
    /// Indicates whether the push was sent, so that the attempt counts.
    package var wasSent: Bool
    package var trip: PushTrip?

    package init(reason: String, wasSent: Bool, trip: PushTrip?) {
        (self.reason, self.wasSent, self.trip) = (reason, wasSent, trip)
    }
}

/// The stored record of an attempt at a recipient that was followed by another attempt.
package struct AttemptRecord: Hashable, Sendable {
    package var at: Timestamp
    /// The number of equal attempts from ``firstAt`` to ``at``. Only attempts whose pushes were never sent are counted
    /// together.
    package var times: Int
    package var firstAt: Timestamp
    package var wasSent: Bool
    package var reason: String?
    package var connection: OpenedConnection?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
}

/// The stored record of a page of recipients.
package struct PageRecord: Hashable, Sendable {
    package var times: PageTimes
    package var committedAt: Timestamp
    /// The number of recipients that the page was sent to, or whose final state it wrote without sending.
    package var recipients: Int
    package var isRetry: Bool
    /// The block with the page's events for webhooks; `nil` if it has none.
    package var block: Int64?
}

/// A summary of the pages of a notification.
package struct PageSummary: Hashable, Sendable {
    package var pages: Int
    package var recipients: Int
    package var firstClaimedAt, firstSentAt, lastAnsweredAt, lastCommittedAt: Timestamp
    /// The longest time from the sending of a page to its last response.
    package var longest: Duration
}

/// The times of a page, by the later clock.
package struct PageTimes: Hashable, Sendable {
    package var claimedAt: Timestamp?
    /// The time at which the page was begun. It decides to which user of a device the deliveries belong.
    package var sentAt: Timestamp
    /// The time at which all outcomes were known. It becomes the time of the page's final states.
    package var answeredAt: Timestamp

    package init(claimedAt: Timestamp?, sentAt: Timestamp, answeredAt: Timestamp) {
        (self.claimedAt, self.sentAt, self.answeredAt) = (claimedAt, sentAt, answeredAt)
    }
}

/// The events of a page for webhooks, and the posts that delivered them.
package struct PageEvents: Hashable, Sendable {
    package var at: Timestamp
    /// The first acknowledged post to each webhook.
    package var posts: [WebhookPostRecord]
    /// The URLs of active webhooks that want the events and have not acknowledged them.
    package var waiting: [String]
}

/// An acknowledged post of events to a webhook.
package struct WebhookPostRecord: Hashable, Sendable {
    package var webhook: UUID
    package var url: String
    package var postedAt, acknowledgedAt: Timestamp
}

/// The identity of a recipient of a notification.
package struct RecipientKey: Hashable, Sendable {
    package var notification: UUID
    package var recipient: Int64

    package init(notification: UUID, recipient: Int64) {
        (self.notification, self.recipient) = (notification, recipient)
    }
}
