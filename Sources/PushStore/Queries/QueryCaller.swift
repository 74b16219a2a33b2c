package import Foundation

/// The caller of a query, and the query's budget. It travels with the task, so that every query of an API operation has
/// it.
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
