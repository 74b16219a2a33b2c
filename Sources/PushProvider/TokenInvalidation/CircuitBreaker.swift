import PushStore
import PushTypes

/// Detects that the push service rejects so many tokens of an environment that a wrong setting is more likely than invalid
/// tokens (reference 1.9: a wrong environment makes every token bad).
///
/// It counts recent responses: when there are many, all counts are halved, so that old responses lose weight.
package struct CircuitBreaker: Hashable, Sendable {
    /// The thresholds at which the breaker opens.
    package struct Limits: Hashable, Sendable {
        /// The minimum number of responses before the breaker opens. Default 200.
        package var minimum = 200
        /// The share of dead tokens (410) from which the breaker is open and no token is deactivated. Default 0.3.
        package var dead = 0.3
        /// The share of bad tokens (`BadDeviceToken`, `DeviceTokenNotForTopic`) from which no token is deactivated, and the
        /// campaign is paused. Default 0.5.
        package var bad = 0.5
        /// The number of responses from which all counts are halved. Default 4,000.
        package var memory = 4000

        package init() {}
    }

    /// The numbers of responses of each kind.
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
    private var counts = Counts()
    /// The reason for which the breaker is open, until an operator closes it; `nil` while it is closed.
    private(set) var openReason: String?

    init(limits: Limits = Limits(), openReason: String? = nil) { (self.limits, self.openReason) = (limits, openReason) }

    /// Counts responses before their tokens are changed, and opens the breaker if too many tokens are bad or dead.
    /// - Returns: `true` if the breaker opened.
    mutating func record(_ new: Counts) -> Bool {
        let suspicion = self.count(new)
        guard self.openReason == nil else { return false }
        self.openReason = suspicion
        return suspicion != nil
    }

    /// Counts responses that prove nothing about other tokens, without opening the breaker.
    /// - Returns: The reason for which these tokens must not be deactivated; `nil` if they may be.
    mutating func count(_ new: Counts) -> String? {
        self.counts.add(new)
        defer {
            while self.counts.total > self.limits.memory {
                self.counts.accepted /= 2
                self.counts.dead /= 2
                self.counts.bad /= 2
            }
        }
        guard self.counts.total >= self.limits.minimum else { return nil }
        let total = Double(self.counts.total)
        if Double(self.counts.bad) / total >= self.limits.bad {
            return """
                \(self.counts.bad) of the last \(self.counts.total) tokens are called bad: the environment, the topic \
                or the credential is likelier to be wrong than the tokens
                """
        }
        guard Double(self.counts.dead) / total >= self.limits.dead else { return nil }
        return "\(self.counts.dead) of the last \(self.counts.total) tokens are called dead, far more than usual"
    }

    /// Opens the breaker for a reason other than these counts.
    /// - Returns: `true` if the breaker was closed.
    mutating func open(_ reason: String) -> Bool {
        guard self.openReason == nil else { return false }
        self.openReason = reason
        return true
    }
}

/// The weight of a page's responses as evidence.
///
/// Devices that were added long ago are representative of the app's devices, and are called established. Devices that were
/// added lately, tokens that were called bad before and tokens that are not registered may all come from one caller of the
/// API. However many they are, they prove nothing about other tokens.
struct TokenEvidence: Hashable, Sendable {
    /// The age from which a device is established: a week.
    static let age: Duration = .seconds(7 * 86_400)

    var established = CircuitBreaker.Counts()
    var others = CircuitBreaker.Counts()
    /// The unregistered tokens, named by requests without a credential, to which pushes were accepted. Each counts once,
    /// however many pushes it gets.
    var reached: Set<DeviceToken> = []

    /// Decides whether a recipient is established.
    /// - Parameter firstNew: The id of the first device that was added lately.
    static func isEstablished(_ recipient: Recipient, firstNew: Int64) -> Bool {
        guard let device = recipient.device else { return false }
        return device < firstNew && !recipient.isSuspected
    }

    mutating func add(_ counts: CircuitBreaker.Counts, isEstablished: Bool) {
        if isEstablished { self.established.add(counts) } else { self.others.add(counts) }
    }

    var accepted: Int { self.established.accepted + self.others.accepted + self.reached.count }
}
