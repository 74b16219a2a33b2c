import PushTypes

/// Decides whether one push service of browsers is sent to: not while it asks for a pause, and not for a while after several
/// failures in a row, and then by one message until one is answered.
struct PushServiceStateMachine: Hashable, Sendable {
    /// The numbers of failures and the pauses.
    struct Limits: Hashable, Sendable {
        /// The failures in a row from which nothing is sent. Default 5.
        var failures = 5
        /// The first pause, which doubles with each failure after it. Default 5 s.
        var pause: Duration = .seconds(5)
        /// The longest pause. Default 5 min.
        var longestPause: Duration = .seconds(300)
        /// The longest `retry-after` that is obeyed. Default 15 min.
        var longestRetryAfter: Duration = .seconds(900)

        init() {}
    }

    /// The decision about one message.
    enum Admission: Hashable, Sendable {
        /// It is sent, and must end with ``PushServiceStateMachine/ended(_:at:)``.
        case send
        /// It is not sent now, for this reason.
        case wait(reason: String)
    }

    /// The end of a message.
    enum End: Hashable, Sendable {
        case answered
        /// The push service asks for a pause.
        case throttled(Duration)
        /// No connection, or no response.
        case failed
        /// Nothing was sent, for a reason of the provider's own. It says nothing about the push service.
        case notSent
    }

    private let limits: Limits
    private var failures = 0
    private var isProbing = false
    private var pausedUntil: Timestamp?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// Decides about a message.
    /// - Parameter now: The steady clock.
    mutating func admit(at now: Timestamp) -> Admission {
        if let pausedUntil {
            guard now >= pausedUntil else { return .wait(reason: self.reason) }
            self.pausedUntil = nil
        }
        guard self.failures >= self.limits.failures else { return .send }
        guard !self.isProbing else { return .wait(reason: self.reason) }
        self.isProbing = true
        return .send
    }

    /// Returns `true` while nothing is sent.
    func isPaused(at now: Timestamp) -> Bool { self.pausedUntil.map { now < $0 } ?? false }

    mutating func ended(_ end: End, at now: Timestamp) {
        switch end {
        case .answered: (self.failures, self.isProbing) = (0, false)
        case .throttled(let pause):
            (self.failures, self.isProbing) = (0, false)
            self.hold(until: now.advanced(by: min(max(.zero, pause), self.limits.longestRetryAfter)))
        case .failed:
            // Messages from before the pause fail together.
            guard self.pausedUntil == nil else { return }
            self.isProbing = false
            self.failures = min(self.failures + 1, 64)
            let excess = self.failures - self.limits.failures
            guard excess >= 0 else { return }
            let pause = (0..<excess).reduce(self.limits.pause) { pause, _ in min(pause * 2, self.limits.longestPause) }
            self.hold(until: now.advanced(by: pause))
        case .notSent: self.isProbing = false
        }
    }

    private mutating func hold(until time: Timestamp) { self.pausedUntil = max(time, self.pausedUntil ?? time) }

    private var reason: String {
        self.failures == 0 ? "the push service asked for a pause" : "the push service does not answer"
    }
}
