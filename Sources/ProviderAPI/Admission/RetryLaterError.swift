import PushStore
import PushSupport

/// An error that the same request does not meet a little later.
struct RetryLaterError: Error {
    let error: RequestError
    /// The time after which the request may succeed.
    let delay: Duration

    init(_ error: RequestError, after delay: Duration) {
        (self.error, self.delay) = (error, delay)
    }

    /// Wraps an error of the store, or a cancelled request; `nil` for any other error.
    init?(_ error: any Error) {
        switch error {
        case let error as RetryLaterError: self = error
        case StoreError.tooManyQueries: self.init(.tooManyQueries, after: .seconds(1))
        case StoreError.queryTooExpensive(let budget): self.init(.tooExpensive(budget), after: .seconds(9))
        case StoreError.ending: self.init(.ending, after: .seconds(4))
        case is CancellationError: self.init(.clientGone, after: .zero)
        default: return nil
        }
    }

    /// Waits for 250 ms before a 429, so that a client that ignores `retry-after` gets no faster responses.
    func delayResponse() async {
        guard self.error.kind == .rateLimited else { return }
        try? await Task.sleep(for: .milliseconds(250), clock: .continuous)
    }

    /// The value of `retry-after`, in whole seconds.
    var seconds: String { "\(max(1, self.delay.components.seconds + 1))" }
}

extension RequestError {
    fileprivate static var tooManyQueries: RequestError {
        RequestError(
            .rateLimited,
            code: "too_many_queries",
            message: "long queries of an API key run one at a time: wait for the responses to the others"
        )
    }

    fileprivate static func tooExpensive(_ budget: Duration) -> RequestError {
        RequestError(
            .unavailable,
            code: "query_too_expensive",
            message: """
                the query found no result within \(budget.components.seconds) s: use fewer conditions, or a required \
                one with an index, such as a user, a tag or the value of an attribute
                """
        )
    }

    fileprivate static var ending: RequestError {
        RequestError(.unavailable, code: "ending", message: "the provider is shutting down: try again later")
    }

    fileprivate static var clientGone: RequestError {
        RequestError(.unavailable, code: "client_gone", message: "the connection was closed before the response")
    }
}
