import Metrics

/// What the delivery of events reports to the program's metrics system, if it has one: `martlet_webhook_posts` counts
/// posts by `outcome`, `martlet_webhook_disabled` webhooks that were given up.
struct WebhookMetrics: Sendable {
    private let taken = Counter(label: "martlet_webhook_posts", dimensions: [("outcome", "taken")])
    private let failed = Counter(label: "martlet_webhook_posts", dimensions: [("outcome", "failed")])
    private let disabled = Counter(label: "martlet_webhook_disabled")

    func countTaken() { self.taken.increment() }
    func countFailed() { self.failed.increment() }
    func countDisabled() { self.disabled.increment() }
}
