/// The budgets of a process, one for each resource.
package final class BudgetRegistry: Sendable {
    private let budgets: [BudgetedResource: Budget]
    /// The budgets in the order of their resources.
    package let all: [Budget]

    /// - Parameters:
    ///   - limits: The limits that settings have changed.
    ///   - clock: The time of rates.
    package init(
        _ limits: [BudgetedResource: BudgetLimits] = [:],
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.all = BudgetedResource.allCases.map { Budget($0, limits: limits[$0], clock: clock) }
        self.budgets = Dictionary(uniqueKeysWithValues: self.all.map { ($0.resource, $0) })
    }

    package subscript(resource: BudgetedResource) -> Budget {
        // Every resource has one.
        self.budgets[resource] ?? Budget(resource)
    }
}
