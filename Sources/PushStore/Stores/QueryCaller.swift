package import PushSupport

/// The caller of a query, and its budget. It travels with the task, so that every query of an API operation has it.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query.
    package enum Purpose: Hashable, Sendable {
        /// A request of the API.
        case request
        /// A page of a file with all devices.
        case export
        /// The number of recipients of a notification that is being accepted or opened. Does not wait for requests.
        case acceptance
    }

    /// The caller of the current task; `nil` for the provider's services, whose queries are cheap or bounded otherwise.
    @TaskLocal package static var current: QueryCaller?

    /// The longest time of one query, without the time for which it waits. That of a count is time of the processor.
    package var budget: Duration
    package var purpose: Purpose
    /// The account of its app and key. Apps take turns before the keys of an app do.
    package var account: BudgetCaller
    /// The time at which nobody wants the result any more, however long its queries had to wait; `nil` for none.
    package var givenUpAt: ContinuousClock.Instant?

    package init(
        budget: Duration,
        purpose: Purpose = .request,
        account: BudgetCaller = BudgetCaller(),
        givenUpAt: ContinuousClock.Instant? = nil
    ) {
        (self.budget, self.purpose, self.account, self.givenUpAt) = (budget, purpose, account, givenUpAt)
    }

    /// The caller of the pages of an export, which this one has asked for.
    package var exporting: QueryCaller { QueryCaller(budget: self.budget, purpose: .export, account: self.account) }
}

/// The limits on queries, besides the budget of each (``QueryCaller``) and the budgets of `BudgetedResource.queries` and its like.
package struct QueryLimits: Hashable, Sendable {
    /// The time for the first attempt at a query, which does not wait in the queue: most need no more. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// The time after which a query of several steps lets others have a turn. Default 500 ms.
    package var turn: Duration = .milliseconds(500)
    /// The number of times in a row that the log is folded during a query, or a step of it, before it is given up. Default 3.
    package var renewals = 3
    /// The longest time of a look-up or a short list, with the time for which it waits for a connection. Default 5 s.
    package var lookup: Duration = .seconds(5)

    package init() {}
}
