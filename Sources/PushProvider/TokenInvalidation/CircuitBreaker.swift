/// Notices when so many tokens of an environment are called dead or bad that a wrong setting is likelier than their
/// death (reference 1.9: one wrong environment makes every token bad).
///
/// It counts the answers of the last while: when there are many, all are halved, so that old ones fade.
package struct CircuitBreaker: Hashable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// Answers that are needed before anything is concluded. Default 200.
        package var minimum = 200
        /// Share of dead tokens (410) from which nothing is deactivated. Default 0.3.
        package var dead = 0.3
        /// Share of bad tokens (`BadDeviceToken`, `DeviceTokenNotForTopic`) from which nothing is deactivated, and the
        /// campaign stops. Default 0.5.
        package var bad = 0.5
        /// Answers from which all are halved. Default 4,000.
        package var memory = 4000

        package init() {}
    }

    /// What some pushes came to.
    package struct Answers: Hashable, Sendable {
        package var accepted = 0
        package var dead = 0
        package var bad = 0

        package init(accepted: Int = 0, dead: Int = 0, bad: Int = 0) {
            self.accepted = accepted
            self.dead = dead
            self.bad = bad
        }

        var total: Int { self.accepted + self.dead + self.bad }

        mutating func add(_ other: Answers) {
            self.accepted += other.accepted
            self.dead += other.dead
            self.bad += other.bad
        }
    }

    private let limits: Limits
    private var answers = Answers()
    /// Why tokens are not deactivated; `nil` while they are. It stays until somebody closes the breaker.
    package private(set) var openReason: String?

    package init(limits: Limits = Limits(), openReason: String? = nil) {
        self.limits = limits
        self.openReason = openReason
    }

    /// Counts what some pushes came to, before anything is done about their tokens.
    /// - Returns: whether the breaker has opened by that.
    package mutating func record(_ new: Answers) -> Bool {
        let suspicion = self.count(new)
        guard self.openReason == nil else { return false }
        self.openReason = suspicion
        return suspicion != nil
    }

    /// Counts without opening, for answers that prove nothing about others.
    /// - Returns: why these tokens should not be deactivated; `nil` if they may be.
    package mutating func count(_ new: Answers) -> String? {
        self.answers.add(new)
        defer {
            while self.answers.total > self.limits.memory {
                self.answers.accepted /= 2
                self.answers.dead /= 2
                self.answers.bad /= 2
            }
        }
        guard self.answers.total >= self.limits.minimum else { return nil }
        let total = Double(self.answers.total)
        if Double(self.answers.bad) / total >= self.limits.bad {
            return """
                \(self.answers.bad) of the last \(self.answers.total) tokens are called bad: the environment, the topic \
                or the credential is likelier to be wrong than the tokens
                """
        }
        guard Double(self.answers.dead) / total >= self.limits.dead else { return nil }
        return "\(self.answers.dead) of the last \(self.answers.total) tokens are called dead, far more than usual"
    }

    /// Opens for a reason that was found elsewhere.
    /// - Returns: whether it was closed.
    package mutating func open(_ reason: String) -> Bool {
        guard self.openReason == nil else { return false }
        self.openReason = reason
        return true
    }
}
