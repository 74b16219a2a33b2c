import Metrics
import PushStore
import PushTypes

/// The metrics of the reading of feedback services.
///
/// `martlet_feedback_runs` counts readings by `outcome`, `martlet_feedback_tokens` their tokens by `result`.
struct FeedbackMetrics: Sendable {
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) { self.factory = factory }

    func count(_ counts: FeedbackCounts, hasFailed: Bool, app: String, environment: PushEnvironment) {
        let target = [("app", app), ("environment", environment.rawValue)]
        self.counter("martlet_feedback_runs", target + [("outcome", hasFailed ? "failed" : "read")]).increment()
        let results = [
            ("deactivated", counts.deactivated), ("kept", counts.kept), ("withheld", counts.withheld),
            ("unknown", counts.unknown),
        ]
        for (result, count) in results where count > 0 {
            self.counter("martlet_feedback_tokens", target + [("result", result)]).increment(by: Int64(count))
        }
    }

    /// Returns the counter with these labels. Readings are hourly, so that none is kept.
    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        Counter(label: label, dimensions: dimensions, factory: self.factory)
    }
}
