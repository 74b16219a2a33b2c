package import PushTypes

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
