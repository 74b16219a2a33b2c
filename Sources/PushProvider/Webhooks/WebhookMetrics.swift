import Metrics

/// The metrics of the delivery of events: `martlet_webhook_posts` counts posts by `outcome`, `martlet_webhook_disabled` counts
/// webhooks that were disabled.
struct WebhookMetrics: Sendable {
    private let accepted = Counter(label: "martlet_webhook_posts", dimensions: [("outcome", "taken")])
    private let failed = Counter(label: "martlet_webhook_posts", dimensions: [("outcome", "failed")])
    private let disabled = Counter(label: "martlet_webhook_disabled")

    func countAccepted() { self.accepted.increment() }
    func countFailed() { self.failed.increment() }
    func countDisabled() { self.disabled.increment() }
}
