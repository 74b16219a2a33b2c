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
