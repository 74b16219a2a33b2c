package import PushTypes

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The two clocks of a process, so that tests can own them.
package protocol TimeSource: Sendable {
    /// The wall clock, for moments that people name and read. It may step in either direction.
    var now: Timestamp { get }
    /// The steady clock, for everything that waits. It advances with the time that passes, also while the machine sleeps,
    /// and never steps.
    var steady: Timestamp { get }
}

extension TimeSource {
    /// Both clocks at this moment.
    package var reading: ClockReading { ClockReading(wall: self.now, steady: self.steady) }
    /// The moment under which something is written down that is kept for a while: with a wall clock that is behind it
    /// would be taken for old.
    package var recorded: Timestamp { self.reading.later }
}

/// A reading of both clocks at the same moment.
package struct ClockReading: Hashable, Sendable {
    package var wall: Timestamp
    package var steady: Timestamp

    package init(wall: Timestamp, steady: Timestamp) {
        self.wall = wall
        self.steady = steady
    }

    /// Two clocks that agree.
    package init(_ moment: Timestamp) {
        self.init(wall: moment, steady: moment)
    }

    /// The earlier of both: whatever is deleted or given up for its age needs both clocks to say so.
    package var earlier: Timestamp { min(self.wall, self.steady) }
    package var later: Timestamp { max(self.wall, self.steady) }

    /// The reading of the steady clock when the wall clock, if it does not step, reaches `moment`.
    package func steady(atWall moment: Timestamp) -> Timestamp {
        self.steady.advanced(by: moment.since(self.wall))
    }
}

/// The clocks of the machine. The steady one begins where the wall clock was when the process first asked.
package struct SystemTime: TimeSource {
    private static let start = (wall: Self.read(CLOCK_REALTIME), elapsed: Self.read(Self.elapsing))

    #if canImport(Darwin)
    private static let elapsing = CLOCK_MONOTONIC
    #else
    private static let elapsing = CLOCK_BOOTTIME
    #endif

    package init() {
        // The steady clock begins at a start, not at the first question.
        _ = Self.start
    }

    package var now: Timestamp { Self.read(CLOCK_REALTIME) }

    package var steady: Timestamp {
        Self.start.wall.advanced(by: Self.read(Self.elapsing).since(Self.start.elapsed))
    }

    private static func read(_ clock: clockid_t) -> Timestamp {
        var time = timespec()
        clock_gettime(clock, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
