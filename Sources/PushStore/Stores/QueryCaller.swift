package import PushSupport

/// The caller of a query, with its time budget. It is task-local, and thus applies to all queries of an API operation.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query, which selects the queue in which it waits.
    package enum Purpose: Hashable, Sendable {
        /// A query of an API request, which waits in the queue of long queries.
        case request
        /// A query for a page of an export, which waits in a queue of its own.
        case export
        /// The count of a notification's recipients when it is accepted or opened. It does not wait for queries of API
        /// requests.
        case acceptance
    }

    /// The caller of the current task; `nil` for background services, whose queries are cheap or bounded otherwise.
    @TaskLocal package static var current: QueryCaller?

    /// The maximum time of a query, without the time that it waits in a queue. For a count of recipients it is
    /// processor time.
    package var budget: Duration
    package var purpose: Purpose
    /// The account to which the caller's queries are charged. Apps take turns, and so do the callers within an app.
    package var account: BudgetCaller
    /// The deadline, including waiting times, after which the caller no longer needs the result; `nil` for no deadline.
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

/// The limits on queries, besides the time budget of each ``QueryCaller`` and `BudgetedResource.queries`.
package struct QueryLimits: Hashable, Sendable {
    /// The maximum time of the first attempt at a query, which does not wait. A query that takes longer is interrupted
    /// and runs again in the queue. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// The time after which a query of several steps yields to waiting queries. Default 500 ms.
    package var turn: Duration = .milliseconds(500)
    /// The maximum number of consecutive times that a query, or a step of it, may be interrupted by truncating
    /// checkpoints of the write-ahead log. Default 3.
    package var renewals = 3
    /// The maximum time of a look-up or a short list, including the wait for a connection. Default 5 s.
    package var lookup: Duration = .seconds(5)

    package init() {}
}
