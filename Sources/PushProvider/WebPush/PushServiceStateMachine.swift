import PushSupport
import PushTypes

/// Decides whether messages are sent to one push service of browsers. None is sent during a delay that the service
/// requested. After several consecutive failures, none is sent for a while, then one at a time until one gets a
/// response.
struct PushServiceStateMachine: Hashable, Sendable {
    struct Limits: Hashable, Sendable {
        /// The number of consecutive failures that opens the breaker. Default 5.
        var failures = 5
        /// The duration of the first pause. It doubles with each further failure. Default 5 s.
        var pause: Duration = .seconds(5)
        /// The maximum duration of a pause. Default 5 min.
        var longestPause: Duration = .seconds(300)
        /// The maximum `retry-after` delay that is obeyed. A longer one is shortened to it. Default 15 min.
        var longestRetryAfter: Duration = .seconds(900)

        init() {}
    }

    enum Admission: Hashable, Sendable {
        /// The decision to send the message. ``PushServiceStateMachine/ended(_:at:)`` must follow.
        case send
        /// The decision not to send the message now, for the given reason.
        case wait(reason: String)
    }

    enum End: Hashable, Sendable {
        case answered
        /// A response that requests a pause of this duration.
        case throttled(Duration)
        /// A message for which there was no connection, or no response.
        case failed
        /// A message that was not sent, for a reason within the provider. It says nothing about the push service.
        case notSent
    }

    private let limits: Limits
    private var breaker: ProbingBreaker
    private var failures = 0
    /// The end of a pause that the push service has requested, or of a breaker's pause during which a response arrived.
    /// No probe is required after it.
    private var pausedUntil: Timestamp?

    init(limits: Limits = Limits()) {
        self.limits = limits
        self.breaker = ProbingBreaker(pause: limits.pause, longestPause: limits.longestPause)
    }

    /// Decides whether a message is sent.
    /// - Parameter now: The current time by the steady clock.
    mutating func admit(at now: Timestamp) -> Admission {
        if let pausedUntil {
            guard now >= pausedUntil else { return .wait(reason: "the push service asked for a pause") }
            self.pausedUntil = nil
        }
        return self.breaker.admit(at: now) == nil ? .send : .wait(reason: "the push service does not answer")
    }

    /// Returns whether no message may be sent at the given time.
    func isPaused(at now: Timestamp) -> Bool {
        (self.pausedUntil ?? self.breaker.pausedUntil).map { now < $0 } ?? false
    }

    mutating func ended(_ end: End, at now: Timestamp) {
        switch end {
        case .answered: self.close()
        case .throttled(let pause):
            self.close()
            let until = now.advanced(by: min(max(.zero, pause), self.limits.longestRetryAfter))
            self.pausedUntil = max(until, self.pausedUntil ?? until)
        case .failed:
            // Messages that were sent before a pause fail together, and do not lengthen it.
            guard self.pausedUntil == nil else { return }
            guard !self.breaker.isOpen else { return self.breaker.failed(at: now) }
            self.failures += 1
            if self.failures >= self.limits.failures { self.breaker.open(at: now) }
        case .notSent: self.breaker.notTried(at: now)
        }
    }

    /// Forgets the failures. A pause continues until its end.
    private mutating func close() {
        if let end = self.breaker.pausedUntil { self.pausedUntil = end }
        self.breaker.succeeded()
        self.failures = 0
    }
}
