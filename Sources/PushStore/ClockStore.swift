package import PushSupport
package import PushTypes

/// The record of time from one start to the next.
package protocol ClockStore: Sendable {
    /// `nil` before the first one was written.
    func clockMark() async throws -> ClockMark?
    func setClockMark(_ mark: ClockMark) async throws
    /// Brings moments that are further ahead than anything waits to where waiting makes sense. A clock that was wrong when
    /// they were written then costs a delay, not a stand-still.
    func settleWaiting(at clocks: ClockReading) async throws
}

/// A mark of the steady clock, as it was written last.
package struct ClockMark: Hashable, Sendable {
    /// The latest moment of the steady clock.
    package var steady: Timestamp
    /// The reading of the wall clock, while that was too far ahead to be believed; `nil` while both agree.
    package var claim: Timestamp?
    /// The time for which the wall clock has kept to this claim while a provider was running.
    package var agreed: Duration

    package init(steady: Timestamp, claim: Timestamp? = nil, agreed: Duration = .zero) {
        self.steady = steady
        self.claim = claim
        self.agreed = agreed
    }
}

/// The longest that anything waits.
package enum LongestWait {
    /// A back-off: 15 min. What was to wait longer looks again by then.
    package static let backoff: Duration = .seconds(15 * 60)
    /// A recipient whose hours have not come: 26 h.
    package static let hours: Duration = .seconds(26 * 3600)
    /// A time zone of an opened notification: the last zone begins 26 h after the first, and its hours within another day.
    package static let zone: Duration = .seconds(50 * 3600)
}
