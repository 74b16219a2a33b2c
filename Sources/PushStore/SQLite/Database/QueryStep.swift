/// The result of one step of a query that reads each in a snapshot of its own, so that none gets old.
enum QueryStep<State: Sendable, Value: Sendable>: Sendable {
    case next(State)
    case done(Value)
}
