package import PushTypes

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
