/// A circuit breaker for deactivations. It opens when so many tokens of an environment are rejected that a wrong
/// setting is more likely than invalid tokens (reference 1.9: a wrong environment makes every token bad). An operator
/// closes it.
package struct CircuitBreaker: Hashable, Sendable {
    /// The thresholds at which the breaker opens.
    package struct Limits: Hashable, Sendable {
        /// The minimum number of responses before the breaker opens. Default 200.
        package var minimum = 200
        /// The share of dead tokens (410) from which the breaker opens and no token is deactivated. Default 0.3.
        package var dead = 0.3
        /// The share of bad tokens (`BadDeviceToken`, `DeviceTokenNotForTopic`) from which the breaker opens, no token
        /// is deactivated, and the campaign is paused. Default 0.5.
        package var bad = 0.5
        /// The number of responses beyond which all counts are halved, so that older ones lose weight. Default 4,000.
        package var memory = 4000

        package init() {}
    }

    /// The numbers of responses by kind: accepted pushes, dead tokens and bad tokens, as in ``Limits``.
    struct Counts: Hashable, Sendable {
        var accepted = 0, dead = 0, bad = 0

        var total: Int { self.accepted + self.dead + self.bad }

        mutating func add(_ other: Counts) {
            self.accepted += other.accepted
            self.dead += other.dead
            self.bad += other.bad
        }
    }

    private let limits: Limits
    /// The recent responses for established tokens, and for all others. See ``TokenEvidence``.
    private var established, others: RecentResponses
    /// The reason why the breaker is open, or `nil` while it is closed. Only an operator closes it.
    private(set) var openReason: String?
    /// A Boolean value that indicates whether only established tokens are deactivated, as too many others were
    /// rejected.
    private(set) var areOthersHeld = false

    init(limits: Limits = Limits(), openReason: String? = nil) {
        (self.limits, self.openReason) = (limits, openReason)
        (self.established, self.others) = (RecentResponses(), RecentResponses())
    }

    /// Counts responses before their tokens are changed, and opens the breaker if too many tokens were rejected.
    ///
    /// Tokens that are not established open it only while no push was accepted, because they are the only evidence
    /// then. Later they are only kept from deactivation.
    /// - Parameter isProven: `true` if a push was ever accepted with the environment's credential.
    /// - Returns: `true` if the breaker opened, and `false` otherwise.
    mutating func record(_ established: Counts, others: Counts, isProven: Bool) -> Bool {
        let ofEstablished = self.established.add(established, self.limits)
        let ofOthers = self.others.add(others, self.limits)
        self.areOthersHeld = ofOthers != nil
        guard let reason = ofEstablished ?? (isProven ? nil : ofOthers) else { return false }
        return self.open(reason)
    }

    /// Opens the breaker if one feedback list would deactivate too large a share of the environment's devices. There
    /// are no accepted pushes for comparison.
    /// - Parameters:
    ///   - dead: The number of devices that the list would deactivate.
    ///   - active: The number of active devices of the environment before that.
    /// - Returns: `true` if the breaker opened, and `false` otherwise.
    mutating func record(feedback dead: Int, of active: Int) -> Bool {
        guard dead >= self.limits.minimum, Double(dead) >= self.limits.dead * Double(active) else { return false }
        return self.open("the feedback service lists \(dead) of \(active) active devices, far more than usual")
    }

    /// Opens the breaker, and returns whether it was closed before.
    private mutating func open(_ reason: String) -> Bool {
        guard self.openReason == nil else { return false }
        self.openReason = reason
        return true
    }
}

/// The counts of recent responses. When there are many, all counts are halved, so that old responses lose weight.
private struct RecentResponses: Hashable, Sendable {
    private var counts = CircuitBreaker.Counts()

    /// Counts responses.
    /// - Returns: The reason why their tokens must not be deactivated, or `nil` if they may be.
    mutating func add(_ new: CircuitBreaker.Counts, _ limits: CircuitBreaker.Limits) -> String? {
        self.counts.add(new)
        defer {
            while self.counts.total > limits.memory {
                self.counts.accepted /= 2
                self.counts.dead /= 2
                self.counts.bad /= 2
            }
        }
        guard self.counts.total >= limits.minimum else { return nil }
        let total = Double(self.counts.total)
        if Double(self.counts.bad) / total >= limits.bad {
            return """
                \(self.counts.bad) of the last \(self.counts.total) tokens are called bad: the environment, the topic \
                or the credential is likelier to be wrong than the tokens
                """
        }
        guard Double(self.counts.dead) / total >= limits.dead else { return nil }
        return "\(self.counts.dead) of the last \(self.counts.total) tokens are called dead, far more than usual"
    }
}
