#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Where the current wall-clock time comes from, so that tests can own it.
package protocol TimeSource: Sendable {
    var now: Timestamp { get }
}

/// The clock of the machine.
package struct SystemTime: TimeSource {
    package init() {}

    package var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
