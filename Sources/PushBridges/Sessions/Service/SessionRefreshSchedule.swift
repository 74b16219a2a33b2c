import PushTypes

/// The times at which the sessions are read from the store: at once after a change, but never soon after the last reading, which
/// reads those of all users.
///
/// A value without I/O.
struct SessionRefreshSchedule {
    private let interval, pause: Duration
    /// The time of the next reading without a change, and the earliest one of any.
    private var next, earliest: Timestamp

    /// - Parameters:
    ///   - interval: The time after which they are read without a change.
    ///   - pause: The least time between two readings.
    init(interval: Duration, pause: Duration, now: Timestamp) {
        (self.interval, self.pause, self.next, self.earliest) = (interval, pause, now, now)
    }

    func isDue(now: Timestamp, isChanged: Bool) -> Bool { now >= self.earliest && (isChanged || now >= self.next) }

    /// Notes that a reading has ended.
    mutating func end(now: Timestamp) {
        (self.next, self.earliest) = (now.advanced(by: self.interval), now.advanced(by: self.pause))
    }

    /// Returns the time to wait for a change: for one that has come already only until it may be read.
    func wait(now: Timestamp, isChanged: Bool, atMost most: Duration) -> Duration {
        isChanged ? min(most, max(.zero, self.earliest.since(now))) : most
    }
}
