import Benchmarking
import NIOCore
import PushTypes
import Synchronization

/// The counters of a group of connections, which their event loops update.
final class ConnectionCounters: Sendable {
    struct Counts: Sendable {
        var ready = 0
        var open = 0
        var failures = 0
        var firstFailure: String?
        /// The number of messages of each device.
        var messages: [Int]
        var tokens: [DeviceToken?]
        var total = 0
        /// The numbers of the stamps that arrived.
        var stamps: Set<Int> = []
        var doubled = 0
        /// The latencies from the stamp to the device, in microseconds. They are kept only while ``keepsLatencies`` is set.
        var latencies: [Double] = []
        var keepsLatencies = false
        /// The time of the last message, in nanoseconds of the monotonic clock.
        var lastArrival: UInt64 = 0

        init(devices: Int) {
            self.messages = Array(repeating: 0, count: devices)
            self.tokens = Array(repeating: nil, count: devices)
        }
    }

    private let state: Mutex<Counts>

    init(devices: Int) {
        self.state = Mutex(Counts(devices: devices))
    }

    var counts: Counts { self.state.withLock { $0 } }

    func update<Value: Sendable>(_ change: (inout Counts) -> Value) -> Value {
        self.state.withLock { change(&$0) }
    }

    /// Counts the messages of one read of a device.
    func received(_ count: Int, stamps: [Stamp], device: Int) {
        let now = Stamp.now
        self.state.withLock { state in
            state.messages[device] += count
            state.total += count
            state.lastArrival = now
            for stamp in stamps {
                if !state.stamps.insert(stamp.number).inserted { state.doubled += 1 }
                if state.keepsLatencies { state.latencies.append(Double(now &- stamp.time) / 1000) }
            }
        }
    }

    func failed(_ why: String) {
        self.state.withLock { state in
            state.failures += 1
            state.firstFailure = state.firstFailure ?? why
        }
    }

    /// Polls until `isDone` returns `true`.
    /// - Throws: ``BenchmarkFailure`` after `seconds`, or when a connection has failed.
    func wait(for what: String, seconds: Double, until isDone: @Sendable (borrowing Counts) -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while true {
            let (done, failure, counts) = self.state.withLock { state in
                (isDone(state), state.firstFailure, "\(state.open) open, \(state.ready) ready, \(state.total) messages")
            }
            if let failure { throw BenchmarkFailure("\(what): \(failure) (\(counts))") }
            if done { return }
            guard ContinuousClock.now < end else { throw BenchmarkFailure("\(what): not in \(seconds) s (\(counts))") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
