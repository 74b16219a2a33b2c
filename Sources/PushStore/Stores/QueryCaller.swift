package import PushSupport

/// The caller of a query, with its time budget. It is task-local, and thus applies to all queries of an API operation.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query, which selects the queue in which it waits.
    package enum Purpose: Hashable, Sendable {
        /// A query of an API request, which waits in the queue of long queries.
        case request
        /// A query for a page of an export, which waits in a queue of its own.
        case export
        /// The count of a notification's recipients. It does not wait for queries of API requests.
        case acceptance
    }

    /// The caller of the current task, or `nil` for background services, whose queries are cheap or bounded otherwise.
    @TaskLocal package static var current: QueryCaller?

    /// The maximum time of a query, without waiting in a queue. For a count of recipients it is processor time.
    package var budget: Duration
    package var purpose: Purpose
    /// The account to which the caller's queries are charged. Apps take turns, and so do the callers within an app.
    package var account: BudgetCaller
    /// The time after which the caller no longer needs the result, or `nil` if there is no such time.
    package var givenUpAt: ContinuousClock.Instant?

    package init(
        budget: Duration,
        purpose: Purpose = .request,
        account: BudgetCaller = BudgetCaller(),
        givenUpAt: ContinuousClock.Instant? = nil
    ) {
        (self.budget, self.purpose, self.account, self.givenUpAt) = (budget, purpose, account, givenUpAt)
    }

    /// The same caller, for the pages of an export.
    package var exporting: QueryCaller { QueryCaller(budget: self.budget, purpose: .export, account: self.account) }
}
