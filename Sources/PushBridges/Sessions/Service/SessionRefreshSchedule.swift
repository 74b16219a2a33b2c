import PushTypes

/// The schedule by which chat sessions are read from the store. They are read soon after a change, but not too often,
/// because each read covers the sessions of all users.
///
/// The type performs no I/O.
struct SessionRefreshSchedule {
    private let interval, pause: Duration
    /// The time of the next read if no session changes, and the earliest time of a read after a change.
    private var next, earliest: Timestamp

    /// Creates a schedule whose first read is due immediately.
    /// - Parameters:
    ///   - interval: The maximum time between two reads.
    ///   - pause: The minimum time between two reads.
    init(interval: Duration, pause: Duration, now: Timestamp) {
        (self.interval, self.pause, self.next, self.earliest) = (interval, pause, now, now)
    }

    func isDue(now: Timestamp, isChanged: Bool) -> Bool { now >= self.earliest && (isChanged || now >= self.next) }

    mutating func end(now: Timestamp) {
        (self.next, self.earliest) = (now.advanced(by: self.interval), now.advanced(by: self.pause))
    }

    /// Returns the time to wait before the next read, at most `most`. After a change, it is the time until a read is
    /// allowed.
    func wait(now: Timestamp, isChanged: Bool, atMost most: Duration) -> Duration {
        isChanged ? min(most, max(.zero, self.earliest.since(now))) : most
    }
}
