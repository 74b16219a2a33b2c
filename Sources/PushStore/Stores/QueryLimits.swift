import PushSupport

/// The limits on queries, besides the time budget of each ``QueryCaller`` and `BudgetedResource.queries`.
package struct QueryLimits: Hashable, Sendable {
    /// The maximum time of the first attempt at a query, which does not wait. A query that takes longer is interrupted
    /// and runs again in the queue. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// The time after which a query of several steps yields to waiting queries. Default 500 ms.
    package var turn: Duration = .milliseconds(500)
    /// The maximum number of consecutive times that a query, or a step of it, may be interrupted by truncating
    /// checkpoints of the write-ahead log, before it fails with ``StoreError/queryInterrupted``. Default 3.
    package var renewals = 3
    /// The maximum time of a look-up or a short list, including the wait for a connection, after which it fails with
    /// ``StoreError/queryTooExpensive(budget:)``. Default 5 s.
    package var lookup: Duration = .seconds(5)

    package init() {}
}
