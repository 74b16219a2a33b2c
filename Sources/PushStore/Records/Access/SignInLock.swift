package import PushTypes

/// The failed attempts to sign in with one name, or from one network, and the delay that they cause.
///
/// Every attempt counts as a failed one before its password is checked, so that attempts at the same time are not more
/// than those one after the other. A value without I/O; the time of the steady clock is passed in.
package struct SignInLock: Hashable, Sendable {
    /// The numbers of a lock.
    package struct Limits: Hashable, Sendable {
        /// The attempts before the first delay.
        package var attempts: Int
        /// The first delay; each further failure doubles it.
        package var first: Duration = .seconds(60)
        package var longest: Duration

        /// The limits of a name: after five failures a minute, an hour at most.
        package static let name = Limits(attempts: 5, longest: .seconds(3600))
        /// The limits of a name at a network from which its person has signed in: five minutes at most, because nothing
        /// else lets the person in.
        package static let known = Limits(attempts: 5, longest: .seconds(300))
        /// The limits of a network, which many people may share: after twenty failures a minute, an hour at most.
        package static let network = Limits(attempts: 20, longest: .seconds(3600))
    }

    /// The answer to an attempt.
    package enum Decision: Hashable, Sendable {
        case proceed
        /// The attempt is refused, and the next one is too until this time has passed.
        case wait(Duration)
    }

    /// The time without an attempt after which the failures are forgotten.
    package static let memory: Duration = .seconds(86_400)

    package private(set) var failures: Int
    /// The time of the last attempt that was not refused.
    package private(set) var at: Timestamp

    package init(failures: Int = 0, at: Timestamp = Timestamp(milliseconds: 0)) {
        (self.failures, self.at) = (failures, at)
    }

    /// Decides about an attempt, and counts it as a failure if it proceeds.
    package mutating func attempt(now: Timestamp, _ limits: Limits) -> Decision {
        if self.isForgotten(now: now) { self.failures = 0 }
        let delay = self.delay(limits)
        let waited = now.since(self.at)
        guard waited >= delay else { return .wait(delay - waited) }
        self.failures = min(self.failures + 1, Self.maximumFailures)
        self.at = now
        return .proceed
    }

    /// Takes back the count of an attempt that succeeded from a network, whose other failures stay.
    package mutating func succeeded() { self.failures = max(0, self.failures - 1) }

    /// Returns `true` if nothing of the lock counts any more.
    package func isForgotten(now: Timestamp) -> Bool { now.since(self.at) >= Self.memory }

    /// The largest count, beyond which no delay grows.
    private static let maximumFailures = 1000

    private func delay(_ limits: Limits) -> Duration {
        let excess = self.failures - limits.attempts
        guard excess >= 0 else { return .zero }
        // 2^20 minutes are longer than any limit.
        return min(limits.longest, limits.first * (1 << min(excess, 20)))
    }
}
