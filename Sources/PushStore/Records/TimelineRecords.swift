package import Foundation
package import PushTypes

/// A connection that carried pushes.
package struct ConnectionRecord: Hashable, Sendable {
    /// The push service, `host:port`.
    package var service: String
    /// The address at the other end, the proxy's behind a proxy; `nil` if it is not known.
    package var address: String?
    /// The port at this end.
    package var localPort: Int?
    package var openedAt: Timestamp

    package init(service: String, address: String?, localPort: Int?, openedAt: Timestamp) {
        (self.service, self.address) = (service, address)
        (self.localPort, self.openedAt) = (localPort, openedAt)
    }
}

/// The way of a push within its page.
package struct DeliveryTrip: Hashable, Sendable {
    /// The index of the connection in ``PageResult/connections``; below zero for none.
    package var connection: Int32
    /// The time from the sending of the page to the outcome.
    package var milliseconds: Int32

    package init(connection: Int32, milliseconds: Int32) {
        (self.connection, self.milliseconds) = (connection, milliseconds)
    }
}

/// The times of a page, by the wall clock.
package struct PageTimes: Hashable, Sendable {
    package var claimedAt: Timestamp?
    package var sentAt: Timestamp
    /// The time at which all outcomes were known. It is the time of the deliveries that the page ends.
    package var answeredAt: Timestamp

    package init(claimedAt: Timestamp?, sentAt: Timestamp, answeredAt: Timestamp) {
        (self.claimedAt, self.sentAt, self.answeredAt) = (claimedAt, sentAt, answeredAt)
    }
}

/// A try after which there is another one.
package struct AttemptResult: Hashable, Sendable {
    package var reason: String
    /// Indicates whether the push left, so that the try counts.
    package var wasSent: Bool
    package var trip: DeliveryTrip?

    package init(reason: String, wasSent: Bool, trip: DeliveryTrip?) {
        (self.reason, self.wasSent, self.trip) = (reason, wasSent, trip)
    }
}

/// The acceptance of a notification as it is remembered.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds.
    package var checkedIn: Int64?
    /// The members that were allowed and probably not intended.
    package var warnings: [String]

    package init(receivedAt: Timestamp? = nil, checkedIn: Int64? = nil, warnings: [String] = []) {
        (self.receivedAt, self.checkedIn, self.warnings) = (receivedAt, checkedIn, warnings)
    }
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

/// A try of a recipient after which there was another one.
package struct AttemptRecord: Hashable, Sendable {
    package var at: Timestamp
    /// The number of equal tries up to ``at``: only pushes that never left are more than one.
    package var times: Int
    package var firstAt: Timestamp
    package var wasSent: Bool
    package var reason: String?
    package var connection: ConnectionRecord?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
}

/// A post of events to a webhook that was acknowledged.
package struct WebhookPostRecord: Hashable, Sendable {
    package var webhook: UUID
    package var url: String
    package var postedAt, acknowledgedAt: Timestamp
}

/// The events of a page and their posts.
package struct PageEvents: Hashable, Sendable {
    package var at: Timestamp
    /// The first post of each webhook that had them.
    package var posts: [WebhookPostRecord]
    /// The addresses of active webhooks that want them and have not acknowledged them.
    package var waiting: [String]
}

/// Everything that is stored about a delivery, besides the notification.
package struct DeliveryHistory: Hashable, Sendable {
    /// The delivery; `nil` while the recipient has no state.
    package var delivery: DeliveryRecord?
    package var connection: ConnectionRecord?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
    package var page: PageRecord?
    package var attempts: [AttemptRecord]
    /// The time of the next try, by the steady clock; `nil` if there is none.
    package var nextTryAt: Timestamp?
    package var events: PageEvents?
}

/// A recipient that waits for a try.
package struct WaitingRecipient: Hashable, Sendable {
    package var notification: UUID
    package var recipient: Int64
}

/// The pages of a notification, summarized.
package struct PageSummary: Hashable, Sendable {
    package var pages: Int
    package var recipients: Int
    package var firstClaimedAt, firstSentAt, lastAnsweredAt, lastCommittedAt: Timestamp
    /// The longest time of a page from its sending to its last response.
    package var longest: Duration
}

/// Everything that is stored about a notification, besides its record.
package struct NotificationHistory: Hashable, Sendable {
    package var acceptance: AcceptanceRecord
    package var openedAt: Timestamp?
    package var pages: PageSummary?
    package var retryPages: PageSummary?
    /// The events of the first and of the last page.
    package var firstEvents, lastEvents: PageEvents?
}
