import Metrics

/// The metrics of the delivery of events.
///
/// `martlet_webhook_posts` counts posts by `outcome`, `martlet_webhook_disabled` counts webhooks that were disabled.
struct WebhookMetrics: Sendable {
    private let accepted: Counter
    private let failed: Counter
    private let disabled: Counter

    init(factory: any MetricsFactory) {
        func posts(_ outcome: String) -> Counter {
            Counter(label: "martlet_webhook_posts", dimensions: [("outcome", outcome)], factory: factory)
        }
        (self.accepted, self.failed) = (posts("taken"), posts("failed"))
        self.disabled = Counter(label: "martlet_webhook_disabled", dimensions: [], factory: factory)
    }

    func countAccepted() { self.accepted.increment() }
    func countFailed() { self.failed.increment() }
    func countDisabled() { self.disabled.increment() }
}
