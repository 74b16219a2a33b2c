package import PushTypes

/// A circuit breaker. While it is open, no attempt is allowed during a pause, and then a single probe is allowed. Each
/// probe that fails doubles the pause.
///
/// The caller decides which failures open the breaker.
package struct ProbingBreaker: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case closed
        case open(until: Timestamp, pause: Duration)
        /// The state after a probe was allowed, while its result is not known.
        case probing(pause: Duration)
    }

    private let pause, longestPause: Duration
    private var state = State.closed

    /// Creates a closed breaker.
    /// - Parameters:
    ///   - pause: The length of the first pause, which each failed probe doubles.
    ///   - longestPause: The maximum length of a pause.
    package init(pause: Duration, longestPause: Duration) { (self.pause, self.longestPause) = (pause, longestPause) }

    /// A Boolean value that indicates whether the breaker allows no attempt, or only a probe.
    package var isOpen: Bool { self.state != .closed }

    /// The end of the current pause, which may have passed, or `nil` if the breaker is closed or a probe is running.
    package var pausedUntil: Timestamp? { if case .open(let until, _) = self.state { until } else { nil } }

    /// Decides whether an attempt is allowed. An allowed attempt must end with ``succeeded()``, ``failed(at:)`` or
    /// ``notTried(at:)``.
    /// - Parameter now: The current time by the steady clock.
    /// - Returns: The time until the next attempt may be allowed, or `nil` if this one is allowed.
    package mutating func admit(at now: Timestamp) -> Duration? {
        switch self.state {
        case .closed: return nil
        case .probing(let pause): return min(pause, self.pause)
        case .open(let until, let pause):
            guard now >= until else { return until.since(now) }
            self.state = .probing(pause: pause)
            return nil
        }
    }

    /// Opens the breaker for the first pause.
    package mutating func open(at now: Timestamp) { self.open(for: self.pause, at: now) }

    /// Closes the breaker after a success, even if the attempt began before the breaker opened.
    package mutating func succeeded() { self.state = .closed }

    /// Records a failure. A failed probe doubles the pause. Attempts from before the breaker opened have no effect.
    package mutating func failed(at now: Timestamp) {
        if case .probing(let pause) = self.state { self.open(for: min(pause * 2, self.longestPause), at: now) }
    }

    /// Records that an allowed probe was not made, so that the next attempt can be the probe.
    package mutating func notTried(at now: Timestamp) {
        if case .probing(let pause) = self.state { self.state = .open(until: now, pause: pause) }
    }

    private mutating func open(for pause: Duration, at now: Timestamp) {
        self.state = .open(until: now.advanced(by: pause), pause: pause)
    }
}
