/// An error that the same request does not meet a little later.
package struct RetryLaterError: Error {
    package let error: RequestError
    /// The time after which the request may succeed.
    package let delay: Duration

    package init(_ error: RequestError, after delay: Duration) {
        (self.error, self.delay) = (error, delay)
    }

    /// The value of `retry-after`, in whole seconds.
    package var seconds: String { "\(max(1, self.delay.components.seconds + 1))" }
}
