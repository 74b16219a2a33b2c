package import PushProtocol
import Synchronization

/// A wall clock that moves only when a test says so. Starts at 1700000000 (2023-11-14T22:13:20Z), as the reference's
/// vectors do.
package final class ManualTime: TimeSource {
    private let time: Mutex<Timestamp>

    package init(_ start: Timestamp = Timestamp(seconds: 1_700_000_000)) {
        self.time = Mutex(start)
    }

    package var now: Timestamp { self.time.withLock { $0 } }

    package func advance(by duration: Duration) {
        self.time.withLock { $0 = $0.advanced(by: duration) }
    }
}
