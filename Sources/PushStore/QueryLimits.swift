/// The bounds of people's queries, besides the budget of each (``QueryCaller``).
package struct QueryLimits: Hashable, Sendable {
    /// Time for the first attempt at a question, which does not wait for a turn: most need no more. Default 50 ms.
    package var attempt: Duration = .milliseconds(50)
    /// Longest wait for a turn. Default 10 s.
    package var patience: Duration = .seconds(10)
    /// Long questions that wait, of all keys together. Default 32.
    package var waiting = 32
    /// Those of one key. Default 4.
    package var waitingPerKey = 4

    package init() {}
}
