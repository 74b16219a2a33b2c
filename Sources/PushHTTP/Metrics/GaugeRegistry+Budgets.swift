package import PushSupport
import PushTypes

extension GaugeRegistry {
    /// Adds the metrics of all budgets of a process. A sample without an app is about what concerns no single one.
    package func add(_ budgets: BudgetRegistry) {
        let held = budgets.all.filter(\.limits.holds)
        self.add("martlet_resource_in_use", "The amount of a resource that is held, by app.") {
            held.flatMap { budget in Self.samples(budget) { $0.held } }
        }
        let queues = held.filter { $0.limits.waiting != nil }
        self.add("martlet_resource_waiting", "Requests that wait for a resource, by app.") {
            queues.flatMap { budget in Self.samples(budget) { $0.waiting } }
        }
        let help = "Requests for a resource that were refused, by app and by the level whose bound was reached."
        self.add("martlet_resource_refused_total", help, .counter) {
            budgets.all.flatMap { budget in
                budget.refusals.map { refusals in
                    var labels = Self.labels(budget, refusals.app)
                    labels["level"] = refusals.level.rawValue
                    return Sample(labels: labels, value: refusals.count)
                }
            }
        }
    }

    /// Returns a sample for each app, and one without an app.
    private static func samples(_ budget: Budget, _ amount: (Budget.Usage) -> Int) -> [Sample] {
        let usage = budget.usageByApp
        let none = usage.contains { $0.app == nil } ? [] : [Budget.Usage(app: nil)]
        return (none + usage).map { Sample(labels: Self.labels(budget, $0.app), value: amount($0)) }
    }

    private static func labels(_ budget: Budget, _ app: Topic?) -> [String: String] {
        var labels = ["resource": budget.resource.rawValue]
        labels["app"] = app?.name
        return labels
    }
}
