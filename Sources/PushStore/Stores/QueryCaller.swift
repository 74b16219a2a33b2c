package import PushSupport

/// The caller of a query and its time budget. It is a task-local value, so that all queries of an API operation have it.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query.
    package enum Purpose: Hashable, Sendable {
        /// A request of the API.
        case request
        /// A page of an export.
        case export
        /// The count of a notification's recipients at its acceptance or opening. It does not wait for queries of requests.
        case acceptance
    }

    /// The caller of the current task; `nil` for services of the provider, whose queries are cheap or otherwise bounded.
    @TaskLocal package static var current: QueryCaller?

    /// The longest time of one query, without the time for which it waits. For a count of recipients, it is processor
    /// time.
    package var budget: Duration
    package var purpose: Purpose
    /// The account of the caller in the budgets of queries. Apps take turns, and within an app its callers.
    package var account: BudgetCaller
    /// The deadline after which the result is not needed any more, including the waiting of its queries; `nil` for none.
    package var givenUpAt: ContinuousClock.Instant?

    package init(
        budget: Duration,
        purpose: Purpose = .request,
        account: BudgetCaller = BudgetCaller(),
        givenUpAt: ContinuousClock.Instant? = nil
    ) {
        (self.budget, self.purpose, self.account, self.givenUpAt) = (budget, purpose, account, givenUpAt)
    }

    /// This caller, for the pages of an export.
    package var exporting: QueryCaller { QueryCaller(budget: self.budget, purpose: .export, account: self.account) }
}

/// The limits on queries, besides the time budget of each (``QueryCaller``) and budgets such as `BudgetedResource.queries`.
package struct QueryLimits: Hashable, Sendable {
    /// The longest time of the first attempt at a query, which runs at once. A query that takes longer is interrupted,
    /// and runs again in the queue. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// The time after which a query of several steps yields to others that wait. Default 500 ms.
    package var turn: Duration = .milliseconds(500)
    /// The maximum number of times in a row that a query, or a step of it, is repeated because the write-ahead log was
    /// folded into the database. Default 3.
    package var renewals = 3
    /// The longest time of a look-up or a short list, including the wait for a connection. Default 5 s.
    package var lookup: Duration = .seconds(5)

    package init() {}
}
