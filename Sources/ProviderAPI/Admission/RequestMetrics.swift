import Metrics

/// The counters of requests.
///
/// They are `martlet_api_requests_total` by operation and status, `martlet_api_request_seconds` by operation,
/// `martlet_api_throttled_total` by code, and `martlet_store_write_failures_total`.
package struct RequestMetrics: Sendable {
    private let factory: any MetricsFactory
    private let writeFailures: Counter

    init(factory: any MetricsFactory) {
        self.factory = factory
        self.writeFailures = Counter(label: "martlet_store_write_failures", dimensions: [], factory: factory)
        for code in Self.usualCodes {
            Counter(label: "martlet_api_throttled", dimensions: [("code", code)], factory: factory).increment(by: 0)
        }
    }

    /// The codes that are counted from 0, so that the first request of each is an increase.
    private static let usualCodes = ["query_too_expensive", "too_many_bytes", "too_many_queries", "too_many_requests"]

    /// - Parameter operation: The id of the operation.
    package func count(_ operation: String, status: Int, duration: Duration) {
        let label = ("operation", operation)
        Counter(label: "martlet_api_requests", dimensions: [label, ("status", "\(status)")], factory: self.factory)
            .increment()
        let timer = Metrics.Timer(label: "martlet_api_request", dimensions: [label], factory: self.factory)
        timer.record(duration: duration)
    }

    /// Counts a request that exceeded a limit or was given up.
    ///
    /// - Parameter code: The code of its error.
    func countThrottled(_ code: String) {
        Counter(label: "martlet_api_throttled", dimensions: [("code", code)], factory: self.factory).increment()
    }

    /// Counts a write that the store could not make.
    func countWriteFailure() { self.writeFailures.increment() }
}
