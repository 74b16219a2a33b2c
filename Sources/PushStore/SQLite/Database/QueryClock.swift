import Foundation

/// A clock by which the time of a query is measured.
enum QueryClock: Sendable {
    /// The time that passes.
    case wall
    /// The time for which the query has a processor: what others use meanwhile is not its own.
    case processor

    /// The reading of the clock on the current thread.
    var now: Duration {
        var time = timespec()
        clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
