package import PushTypes

/// Decides whether something that has failed is tried: not during a pause, and then once until the end of that try is known. The
/// pause doubles with each such try that fails.
///
/// Its owner decides which failures open it.
package struct ProbingBreaker: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case closed
        case open(until: Timestamp, pause: Duration)
        /// One try is under way to find out whether it works again.
        case probing(pause: Duration)
    }

    private let pause, longestPause: Duration
    private var state = State.closed

    /// - Parameter pause: The first pause.
    package init(pause: Duration, longestPause: Duration) { (self.pause, self.longestPause) = (pause, longestPause) }

    /// `true` while nothing, or a single try, is allowed.
    package var isOpen: Bool { self.state != .closed }

    /// The end of the pause, which may have passed; `nil` if there is none.
    package var pausedUntil: Timestamp? { if case .open(let until, _) = self.state { until } else { nil } }

    /// Decides about a try, which must end with ``succeeded()``, ``failed(at:)`` or ``notTried(at:)``.
    /// - Parameter now: The steady clock.
    /// - Returns: The time for which nothing may be tried; `nil` if it may.
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

    /// Begins the first pause.
    package mutating func open(at now: Timestamp) { self.open(for: self.pause, at: now) }

    /// Notes a success, also of a try from before the breaker opened.
    package mutating func succeeded() { self.state = .closed }

    /// Notes a failure. One of a try from before the breaker opened changes nothing.
    package mutating func failed(at now: Timestamp) {
        if case .probing(let pause) = self.state { self.open(for: min(pause * 2, self.longestPause), at: now) }
    }

    /// Notes that a try was not made after all, which finds nothing out. The next one may be.
    package mutating func notTried(at now: Timestamp) {
        if case .probing(let pause) = self.state { self.state = .open(until: now, pause: pause) }
    }

    private mutating func open(for pause: Duration, at now: Timestamp) {
        self.state = .open(until: now.advanced(by: pause), pause: pause)
    }
}
