import PushStore
import PushSupport

extension RetryLaterError {
    /// Wraps an error of the store, or a cancelled request; `nil` for any other error.
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
        case StoreError.ending, is BudgetEnded:
            (kind, code, delay) = (.unavailable, "ending", .seconds(4))
            message = "the provider is shutting down: try again later"
        case is CancellationError:
            (kind, code, delay) = (.unavailable, "client_gone", .zero)
            message = "the connection was closed before the response"
        default: return nil
        }
        self.init(RequestError(kind, code: code, message: message), after: delay)
    }
}
