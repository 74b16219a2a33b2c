package import PushTypes

/// The last reading of an environment's feedback service for an app.
package struct FeedbackRun: Hashable, Sendable {
    package var startedAt: Timestamp
    /// The end of the reading, or `nil` while the service is being read, and for a reading that a crash interrupted.
    package var endedAt: Timestamp?
    /// The earliest time of the next reading, by the steady clock.
    package var nextAt: Timestamp
    package var counts = FeedbackCounts()
    /// The number of consecutive failed readings, or 0 after a success.
    package var failures = 0
    /// The error of the latest reading, or `nil` after a success.
    package var error: String?

    package init(startedAt: Timestamp, nextAt: Timestamp) { (self.startedAt, self.nextAt) = (startedAt, nextAt) }
}

/// The numbers of tokens and devices that a feedback list has affected.
package struct FeedbackCounts: Hashable, Sendable {
    package var tokens = 0
    package var deactivated = 0
    /// The number of devices that stay active because they registered at the time of their entry in the list or later.
    package var kept = 0
    /// The number of devices that stay active because the circuit breaker for deactivations is open.
    package var withheld = 0
    /// The number of tokens without an active device.
    package var unknown = 0

    package init() {}

    package mutating func add(_ other: FeedbackCounts) {
        self.tokens += other.tokens
        self.deactivated += other.deactivated
        self.kept += other.kept
        self.withheld += other.withheld
        self.unknown += other.unknown
    }
}
