package import PushTypes

/// The failed attempts to sign in with a name or from a network, and the delay that they cause.
///
/// An attempt counts as failed before its password is checked, so that concurrent attempts are limited like consecutive
/// ones. The value does no I/O, and gets the time of the steady clock from its caller.
package struct SignInLock: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// The number of failed attempts before the first delay.
        package var attempts: Int
        /// The first delay, which each further failure doubles, up to ``longest``.
        package var first: Duration = .seconds(60)
        package var longest: Duration

        /// The limits of a name: a minute after five failures, and an hour at most.
        package static let name = Limits(attempts: 5, longest: .seconds(3600))
        /// The limits of a name at a network from which its person has signed in. The delay is five minutes at most,
        /// because the person has no other way in.
        package static let known = Limits(attempts: 5, longest: .seconds(300))
        /// The limits of a network, which many people may share: a minute after twenty failures, and an hour at most.
        package static let network = Limits(attempts: 20, longest: .seconds(3600))
    }

    /// The decision about an attempt to sign in.
    package enum Decision: Hashable, Sendable {
        case proceed
        /// A refusal of the attempt, and of further ones until this time has passed.
        case wait(Duration)
    }

    /// The time without an attempt after which the failures are forgotten.
    package static let memory: Duration = .seconds(86_400)

    package private(set) var failures: Int
    /// The time of the last attempt that was not refused, by the steady clock.
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

    /// Undoes the failure that was counted for an attempt that succeeded. Earlier failures stay.
    package mutating func succeeded() { self.failures = max(0, self.failures - 1) }

    /// Returns whether the failures are so old that they no longer count.
    package func isForgotten(now: Timestamp) -> Bool { now.since(self.at) >= Self.memory }

    /// The maximum number of failures that are counted. Further failures do not increase the delay.
    private static let maximumFailures = 1000

    private func delay(_ limits: Limits) -> Duration {
        let excess = self.failures - limits.attempts
        guard excess >= 0 else { return .zero }
        // 2^20 minutes are longer than any limit.
        return min(limits.longest, limits.first * (1 << min(excess, 20)))
    }
}
