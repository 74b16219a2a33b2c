package import PushTypes

/// The work that remains of a notification in progress, as far as the store knows it.
package struct RemainingWork: Hashable, Sendable {
    /// The parts of the audience that have not been read to their end.
    package var shards = 0
    /// Indicates whether a page is in flight.
    package var isInFlight = false
    /// The earliest and the latest time at which one of these parts may be sent, by the wall clock.
    package var firstShardAt, lastShardAt: Timestamp?
    /// Indicates whether nothing of the earliest part was sent.
    package var isFirstShardUnread = false
    /// The time zone of the part that comes last; `nil` for others than a named one.
    package var lastZone: String?
    /// The time before which no further page is sent, by the steady clock.
    package var nextPageAt: Timestamp?
    /// The time of the next retry, by the steady clock.
    package var retryAt: Timestamp?

    package init() {}
}
