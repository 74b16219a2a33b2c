package import PushTypes

/// The last reading of an environment's feedback service for an app.
package struct FeedbackRun: Hashable, Sendable {
    package var startedAt: Timestamp
    /// `nil` while the service is being read, and for a reading that a crash has ended.
    package var endedAt: Timestamp?
    /// The earliest time of the next reading, of the steady clock.
    package var nextAt: Timestamp
    package var counts = FeedbackCounts()
    /// The failures in a row; 0 after a success.
    package var failures = 0
    /// The error of the last failure; `nil` after a success.
    package var error: String?

    package init(startedAt: Timestamp, nextAt: Timestamp) { (self.startedAt, self.nextAt) = (startedAt, nextAt) }
}

/// The consequences of a feedback list.
package struct FeedbackCounts: Hashable, Sendable {
    /// The tokens of the list.
    package var tokens = 0
    /// The devices that are inactive because of it.
    package var deactivated = 0
    /// The devices that have registered since, and stay active.
    package var kept = 0
    /// The devices that stay active because the circuit breaker is open.
    package var withheld = 0
    /// The tokens without an active device.
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
