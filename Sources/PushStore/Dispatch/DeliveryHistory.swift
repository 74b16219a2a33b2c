package import Foundation
package import ProviderModel
package import PushTypes

/// The stored history of one delivery: everything that a timeline shows except the record of its notification.
package struct DeliveryHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    /// The delivery, or `nil` while the ledger, the table of recipients' states, has no state for the recipient.
    package var delivery: DeliveryRecord?
    package var connection: OpenedConnection?
    /// The milliseconds from the start of sending the page to the push's outcome, or `nil` if they are unknown.
    package var milliseconds: Int?
    package var page: PageRecord?
    package var attempts: [AttemptRecord]
    /// The time of the next attempt, by the steady clock, or `nil` if none is queued or if its time is not known yet.
    package var nextTryAt: Timestamp?
    /// The paused environments that delay the next attempt, or `nil` if no pause delays it.
    package var heldFor: HoldingEnvironments?
    package var events: PageEvents?
    /// The changes of the token's state that the notification caused, oldest first.
    package var tokenEvents: [TokenEventRecord] = []
}

/// The stored events from the request to the opening of a notification, which all of its deliveries share.
package struct NotificationBeginning: Hashable, Sendable {
    package var acceptance: AcceptanceRecord
    package var openedAt: Timestamp?
}

/// The stored history of a notification: everything that a timeline shows except the record of the notification.
package struct NotificationHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    package var pages: PageSummary?
    package var retryPages: PageSummary?
    /// The webhook events of the first and of the last page that has any, or `nil` for both if no page has events.
    package var firstEvents, lastEvents: PageEvents?
}

/// The result of an attempt to send after which another attempt is made.
package struct AttemptResult: Hashable, Sendable {
    package var reason: String
    /// A Boolean value that indicates whether the push was sent. If not, the attempt is not counted.
    package var wasSent: Bool
    package var trip: PushTrip?

    package init(reason: String, wasSent: Bool, trip: PushTrip?) {
        (self.reason, self.wasSent, self.trip) = (reason, wasSent, trip)
    }
}

/// An attempt to send to one recipient that was followed by another attempt, as the store keeps it for timelines.
package struct AttemptRecord: Hashable, Sendable {
    package var at: Timestamp
    /// The number of attempts from ``firstAt`` to ``at`` that the record combines. It is 1 if a push was sent.
    package var times: Int
    package var firstAt: Timestamp
    package var wasSent: Bool
    package var reason: String?
    package var connection: OpenedConnection?
    /// The milliseconds from the start of sending the page to the push's outcome, or `nil` if they are unknown.
    package var milliseconds: Int?
}

/// The stored times and size of a page, a group of recipients that is sent to together, for timelines.
package struct PageRecord: Hashable, Sendable {
    package var times: PageTimes
    package var committedAt: Timestamp
    /// The number of recipients that the page was sent to, or whose final state was written without a push.
    package var recipients: Int
    package var isRetry: Bool
    /// The id of the block with the page's webhook events, or `nil` if the page has none.
    package var block: Int64?
}

/// A summary of a notification's pages: the numbers of pages and recipients, and the earliest and latest times.
package struct PageSummary: Hashable, Sendable {
    package var pages: Int
    package var recipients: Int
    package var firstClaimedAt, firstSentAt, lastAnsweredAt, lastCommittedAt: Timestamp
    /// The longest time from the sending of a page to its last response.
    package var longest: Duration
}

/// The times of a page of recipients, by the later of the wall and steady clocks.
package struct PageTimes: Hashable, Sendable {
    package var claimedAt: Timestamp?
    /// The time at which the sending of the page began. It determines the user to whom a device's delivery belongs.
    package var sentAt: Timestamp
    /// The time at which all outcomes of the page were known. It becomes the time of the final states in the ledger.
    package var answeredAt: Timestamp

    package init(claimedAt: Timestamp?, sentAt: Timestamp, answeredAt: Timestamp) {
        (self.claimedAt, self.sentAt, self.answeredAt) = (claimedAt, sentAt, answeredAt)
    }
}

/// The webhook events of a page, and the requests that delivered them to webhooks.
package struct PageEvents: Hashable, Sendable {
    package var at: Timestamp
    /// The first acknowledged request to each webhook.
    package var posts: [WebhookPostRecord]
    /// The URLs of active webhooks that subscribe to the events and have not acknowledged them.
    package var waiting: [String]
}

/// A request that brought events to a webhook and was acknowledged by the receiver.
package struct WebhookPostRecord: Hashable, Sendable {
    package var webhook: UUID
    package var url: String
    package var postedAt, acknowledgedAt: Timestamp
}

/// The identity of a recipient, by the notification and by the id within the notification.
package struct RecipientKey: Hashable, Sendable {
    package var notification: UUID
    package var recipient: Int64

    package init(notification: UUID, recipient: Int64) {
        (self.notification, self.recipient) = (notification, recipient)
    }
}
