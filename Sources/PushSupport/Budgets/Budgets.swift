/// The budgets of a process, one for each resource.
package final class Budgets: Sendable {
    private let budgets: [Resource: Budget]
    /// The budgets in the order of their resources.
    package let all: [Budget]

    /// - Parameters:
    ///   - limits: The limits that settings have changed.
    ///   - clock: The time of rates.
    package init(
        _ limits: [Resource: BudgetLimits] = [:],
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.all = Resource.allCases.map { Budget($0, limits: limits[$0], clock: clock) }
        self.budgets = Dictionary(uniqueKeysWithValues: self.all.map { ($0.resource, $0) })
    }

    package subscript(resource: Resource) -> Budget {
        // Every resource has one.
        self.budgets[resource] ?? Budget(resource)
    }
}
