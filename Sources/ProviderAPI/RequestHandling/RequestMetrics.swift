import Metrics
import Synchronization

/// The metrics of requests. They are `martlet_api_requests_total` by operation and status,
/// `martlet_api_request_seconds` by operation, `martlet_api_throttled_total` by code, and
/// `martlet_store_write_failures_total`.
package final class RequestMetrics: Sendable {
    /// The requests that are counted together.
    private struct Key: Hashable {
        let operation: String
        let status: Int
    }

    /// The metrics of requests to one operation with one status. They are cached, because looking them up by their
    /// labels would cost as much as a small request.
    private struct Handles {
        let count: Counter
        let time: Metrics.Timer
    }

    private let factory: any MetricsFactory
    private let writeFailures: Counter
    private let handles = Mutex<[Key: Handles]>([:])

    init(factory: any MetricsFactory) {
        self.factory = factory
        self.writeFailures = Counter(label: "martlet_store_write_failures", dimensions: [], factory: factory)
        for code in Self.usualCodes {
            Counter(label: "martlet_api_throttled", dimensions: [("code", code)], factory: factory).increment(by: 0)
        }
    }

    /// The error codes whose counters start with the value 0, so that the first occurrence is an increase.
    private static let usualCodes = ["query_too_expensive", "too_many_bytes", "too_many_queries", "too_many_requests"]

    package func count(_ operation: String, status: Int, duration: Duration) {
        let handles = self.handles(Key(operation: operation, status: status))
        handles.count.increment()
        handles.time.record(duration: duration)
    }

    private func handles(_ key: Key) -> Handles {
        if let known = self.handles.withLock({ $0[key] }) { return known }
        let label = ("operation", key.operation)
        let all = [label, ("status", "\(key.status)")]
        let handles = Handles(
            count: Counter(label: "martlet_api_requests", dimensions: all, factory: self.factory),
            time: Metrics.Timer(label: "martlet_api_request", dimensions: [label], factory: self.factory)
        )
        self.handles.withLock { $0[key] = handles }
        return handles
    }

    /// Counts a request that exceeded a limit or was aborted, and may succeed later.
    /// - Parameter code: The error code in the response, such as `too_many_requests`.
    func countThrottled(_ code: String) {
        Counter(label: "martlet_api_throttled", dimensions: [("code", code)], factory: self.factory).increment()
    }

    func countWriteFailure() { self.writeFailures.increment() }
}
