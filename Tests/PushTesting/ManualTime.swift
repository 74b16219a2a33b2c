import PushSupport
package import PushTypes
import Synchronization

/// Two clocks that move only when a test says so. Both start at 1700000000 (2023-11-14T22:13:20Z), as the reference's
/// vectors do.
package final class ManualTime: TimeSource {
    private let clocks: Mutex<ClockReading>

    package init(_ start: Timestamp = Timestamp(seconds: 1_700_000_000)) {
        self.clocks = Mutex(ClockReading(start))
    }

    package init(wall: Timestamp, steady: Timestamp) {
        self.clocks = Mutex(ClockReading(wall: wall, steady: steady))
    }

    package var now: Timestamp { self.clocks.withLock { $0.wall } }
    package var steady: Timestamp { self.clocks.withLock { $0.steady } }

    /// Time passes.
    package func advance(by duration: Duration) {
        self.clocks.withLock { clocks in
            clocks.wall = clocks.wall.advanced(by: duration)
            clocks.steady = clocks.steady.advanced(by: duration)
        }
    }

    /// The wall clock is set; no time passes.
    package func step(by duration: Duration) {
        self.clocks.withLock { $0.wall = $0.wall.advanced(by: duration) }
    }
}
