package import Foundation

/// The caller of a query, and its budget. It travels with the task, so that every query of an API operation has it.
package struct QueryCaller: Hashable, Sendable {
    /// The purpose of a query.
    package enum Purpose: Hashable, Sendable {
        /// A request of the API: one query at a time for each key.
        case request
        /// A page of a file with all devices.
        case export
        /// The number of recipients of a notification that is being accepted or opened. Does not wait for requests.
        case acceptance
    }

    /// The caller of the current task; `nil` for the provider's services, whose queries are cheap or bounded otherwise.
    @TaskLocal package static var current: QueryCaller?

    /// The longest time of one query, without the time for which it waits.
    package var budget: Duration
    package var purpose: Purpose
    /// The API key; `nil` for the provider itself.
    package var key: UUID?

    package init(budget: Duration, purpose: Purpose = .request, key: UUID? = nil) {
        (self.budget, self.purpose, self.key) = (budget, purpose, key)
    }
}

/// The limits on queries, besides the budget of each (``QueryCaller``).
package struct QueryLimits: Hashable, Sendable {
    /// The time for the first attempt at a query, which does not wait in the queue: most need no more. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// The longest wait in the queue. Default 10 s.
    package var patience: Duration = .seconds(10)
    /// The most queries that wait, of all keys together. Default 32.
    package var waiting = 32
    /// The most queries of one key that wait. Default 4.
    package var waitingPerKey = 4

    package init() {}
}
