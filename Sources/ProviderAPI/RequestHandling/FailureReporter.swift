package import Hummingbird
package import Logging
import PushHTTP
import PushProvider
import PushStore
package import PushSupport

/// Converts failures of the store and refusals of budgets into errors that a caller may see, and counts and logs them.
package struct FailureReporter: Sendable {
    let metrics: RequestMetrics
    /// The log, with a limit on the number of lines that requests cause.
    private let log: RateLimitedLog
    private let others: ErrorMiddleware

    init(metrics: RequestMetrics, lines: Budget, logger: Logger) {
        (self.metrics, self.log, self.others) = (
            metrics, RateLimitedLog(logger, lines), ErrorMiddleware(logger: logger)
        )
    }

    /// Returns the response that reports an error, after counting and logging it as ``report(_:_:)`` does.
    func response(to error: any Error, _ request: Request) async -> Response {
        let place = ["path": Logger.MetadataValue.string(RedactedPath.of(request))]
        guard let (error, headers) = await self.report(error, place) else {
            return self.others.response(to: error, request)
        }
        return .error(error, headers: headers)
    }

    /// Counts and logs a failure of the store or a refusal of a budget. Before it returns an error with status 429, it
    /// waits for a moment, which slows down clients that ignore `retry-after`.
    /// - Parameter place: The metadata of the log line, such as the path.
    /// - Returns: The error for the caller, with the header fields of its response, or `nil` for an error of another
    ///   kind, which is neither counted nor logged.
    package func report(_ error: any Error, _ place: Logger.Metadata) async -> (RequestError, HTTPFields)? {
        guard let (known, headers) = self.known(error, place) else { return nil }
        await TooManyRequestsDelay.wait(before: known)
        return (known, headers)
    }

    /// Counts and logs a failure of a page, as ``report(_:_:)`` does, but without a delay.
    /// - Returns: The error that the page displays, with the header fields of its response.
    package func pageFailure(_ error: any Error, _ place: Logger.Metadata) -> (RequestError, HTTPFields) {
        if let error = error as? RequestError { return (error, [:]) }
        return self.known(error, place) ?? (self.unknown(error, "page failed", place), [:])
    }

    /// Logs an error that is neither a failure of the store nor a refusal of a budget.
    /// - Returns: The error for the caller, which does not reveal the cause.
    package func unknown(_ error: any Error, _ message: String, _ place: Logger.Metadata) -> RequestError {
        self.log.log(.error, message, place.merging(["error": "\(error)"]) { $1 })
        return .internalFailure
    }

    private func known(_ error: any Error, _ place: Logger.Metadata) -> (RequestError, HTTPFields)? {
        switch error {
        case let damage as DamagedRow:
            self.log.log(.error, "stored record is damaged", place.merging(["error": "\(damage)"]) { $1 })
            let message = "\(damage): 'martlet check' names it"
            return (RequestError(.internalError, code: "damaged", message: message), [:])
        case StoreError.cannotWrite(let why), StoreError.unavailable(let why):
            self.metrics.countWriteFailure()
            self.log.log(.error, "store cannot write", place.merging(["error": "\(why)"]) { $1 })
            // The message reveals nothing about the machine, because callers without a key receive it too.
            let message = "nothing can be stored now, so nothing was done: try again later"
            return (RequestError(.unavailable, code: "storage_unavailable", message: message), [.retryAfter: "5"])
        case StoreError.ownerRemoved:
            let message = "what this belongs to, such as its app, was removed meanwhile"
            return (RequestError(.notFound, code: "removed_meanwhile", message: message), [:])
        default:
            if let known = RequestError(ofHTTP: error) { return (known, [:]) }
            guard let later = RetryLaterError(error) else { return nil }
            self.metrics.countThrottled(later.error.code)
            return (later.error, [.retryAfter: later.seconds])
        }
    }
}

extension RetryLaterError {
    /// Wraps an error of the store or of a budget that another attempt may avoid. Returns `nil` for any other error.
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
