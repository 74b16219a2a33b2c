package import PushSupport
import PushTypes

extension TimeSource {
    /// The steady clock as one of instants, for rate limiters and other machines that measure with these.
    package var instants: @Sendable () -> ContinuousClock.Instant {
        let (start, first) = (ContinuousClock.now, self.steady)
        return { start.advanced(by: self.steady.since(first)) }
    }
}
