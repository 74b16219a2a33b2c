import PushStore
import PushSupport

extension RetryLaterError {
    /// Wraps an error of the store; `nil` for any other error.
    init?(_ error: any Error) {
        let (kind, code, message, delay): (RequestError.Kind, String, String, Duration)
        switch error {
        case let error as RetryLaterError:
            self = error
            return
        case let refusal as BudgetRefusal:
            self = refusal.error
            return
        case StoreError.queryTooExpensive(let budget):
            (kind, code, delay) = (.unavailable, "query_too_expensive", .seconds(9))
            message = """
                the query found no result within \(budget.components.seconds) s: use fewer conditions, or a required \
                one with an index, such as a user, a tag or the value of an attribute
                """
        case StoreError.queryInterrupted:
            (kind, code, delay) = (.unavailable, "busy", .seconds(4))
            message = "so much is being written now that the query could not end: try again later"
        case StoreError.ending, is BudgetEnded:
            (kind, code, delay) = (.unavailable, "ending", .seconds(4))
            message = "the provider is shutting down: try again later"
        default: return nil
        }
        self.init(RequestError(kind, code: code, message: message), after: delay)
    }
}
