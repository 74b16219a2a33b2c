import PushTypes

/// The error of a budget whose service ends.
package struct BudgetEnded: Error {}

/// A refusal: this resource has no more for this caller now. It says nothing about the request itself, which succeeds later.
package struct BudgetRefusal: Error, Hashable {
    package let resource: BudgetedResource
    package let level: BudgetLevel
    /// The time after which there may be room.
    package let delay: Duration
    /// The bound that was reached.
    package let bound: BudgetBound?

    init(_ budget: Budget, _ level: BudgetLevel, _ caller: BudgetCaller, _ delay: Duration?) {
        (self.resource, self.level, self.bound) = (budget.resource, level, budget.limits.bounds[level, for: caller])
        self.delay = delay ?? budget.resource.row.delay
    }

    /// Makes the refusal of a resource with its default limits.
    package init(_ resource: BudgetedResource, _ level: BudgetLevel) {
        (self.resource, self.level, self.bound) = (resource, level, resource.row.limits.bounds[level])
        self.delay = resource.row.delay
    }

    /// The error for the caller of an API.
    package var error: RetryLaterError {
        let row = self.resource.row
        let error = RequestError(row.kind, code: row.code, message: row.refusal(self.level, self.bound))
        return RetryLaterError(error, after: self.delay)
    }
}
