package import Hummingbird
package import Logging
import PushHTTP
import PushStore
package import PushSupport

/// Turns failures of the store and of admission into errors that a caller may see, and counts and logs them.
package struct FailureReporter: Sendable {
    let metrics: RequestMetrics
    package let logger: Logger

    /// Returns the response that reports an error.
    func response(to error: any Error, _ request: Request) async -> Response {
        let place = ["path": Logger.MetadataValue.string(RedactedPath.of(request))]
        guard let (error, headers) = await self.report(error, place) else {
            return ErrorMiddleware(logger: self.logger).response(to: error, request)
        }
        return .error(error, headers: headers)
    }

    /// Counts and logs a failure.
    ///
    /// - Parameter place: Where it happened, for the log.
    /// - Returns: The error for the caller, with the fields of its response; `nil` for a failure of another kind.
    package func report(_ error: any Error, _ place: Logger.Metadata) async -> (RequestError, HTTPFields)? {
        switch error {
        case let damage as DamagedRow:
            self.logger.error("stored record is damaged", metadata: place.merging(["error": "\(damage)"]) { $1 })
            let message = "\(damage): martlet check names it"
            return (RequestError(.internalError, code: "damaged", message: message), [:])
        case StoreError.cannotWrite(let why):
            self.metrics.countWriteFailure()
            self.logger.error("store cannot write", metadata: place.merging(["error": "\(why)"]) { $1 })
            let message = "nothing can be stored now, so nothing was done: try again later"
            return (RequestError(.unavailable, code: "storage_unavailable", message: message), [.retryAfter: "5"])
        default:
            if let known = RequestError(ofHTTP: error) { return (known, [:]) }
            guard let later = RetryLaterError(error) else { return nil }
            self.metrics.countThrottled(later.error.code)
            await TooManyRequestsDelay.wait(before: later.error)
            return (later.error, [.retryAfter: later.seconds])
        }
    }
}
