package import PushTypes

/// The record of time from one start to the next.
package protocol ClockStore: Sendable {
    /// Returns the mark that was written last; `nil` before the first one.
    func clockMark() async throws -> ClockMark?
    /// Writes a mark in place of the last one.
    func setClockMark(_ mark: ClockMark) async throws
}

/// A mark of the steady clock, as it was written last.
package struct ClockMark: Hashable, Sendable {
    /// The latest reading of the steady clock.
    package var steady: Timestamp
    /// The reading of the wall clock while that is too far ahead to be believed; `nil` while both agree.
    package var claim: Timestamp?
    /// The time for which the wall clock has kept to this claim while a provider was running.
    package var agreed: Duration

    package init(steady: Timestamp, claim: Timestamp? = nil, agreed: Duration = .zero) {
        (self.steady, self.claim, self.agreed) = (steady, claim, agreed)
    }
}

/// The maximum delays that the provider ever plans.
package enum MaximumDelay {
    /// A back-off: 15 min. What was to wait longer is looked at again by then.
    package static let backoff: Duration = .seconds(15 * 60)
    /// A recipient that waits for its send window: 26 h.
    package static let hours: Duration = .seconds(26 * 3600)
    /// A time zone of an opened notification: the last begins 26 h after the first, its window within another day.
    package static let zone: Duration = .seconds(50 * 3600)
}
