package import PushTypes

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
