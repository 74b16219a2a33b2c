import PushSupport
import PushTypes

/// Decides whether a publisher's server is asked: not for a while after several failures in a row, and then by one question
/// until one is answered.
///
/// The failures must be those of several clients. What one client makes up, such as tokens on which a server fails, is its own harm.
package struct PublisherBreaker: Hashable, Sendable {
    /// The numbers of failures and the pauses.
    package struct Limits: Hashable, Sendable {
        /// The failures in a row from which nothing is asked. Default 5.
        package var failures = 5
        /// The number of clients whose failures these must be. Default 3.
        package var clients = 3
        /// The first pause, which doubles with each failed probe. Default 10 s.
        package var pause: Duration = .seconds(10)
        /// The longest pause. Default 5 min.
        package var longestPause: Duration = .seconds(300)

        package init() {}
    }

    /// The decision about one question.
    enum Admission: Hashable, Sendable {
        case ask
        /// Nothing may be asked for so long.
        case wait(Duration)
    }

    private enum State: Hashable, Sendable {
        case closed(failures: Int, clients: Set<BudgetCaller.Identity>)
        case open(until: Timestamp, pause: Duration)
        /// One question is under way to find out whether the server is back.
        case probing(pause: Duration)
    }

    private let limits: Limits
    private var state = State.closed(failures: 0, clients: [])

    init(limits: Limits = Limits()) { self.limits = limits }

    /// `true` while nothing, or a single question, may be asked.
    var isOpen: Bool {
        if case .closed = self.state { false } else { true }
    }

    /// Decides about a question. One that is asked must end with ``succeeded()`` or ``failed(_:at:)``.
    /// - Parameter now: The steady clock.
    mutating func admit(at now: Timestamp) -> Admission {
        switch self.state {
        case .closed: return .ask
        case .probing(let pause): return .wait(min(pause, self.limits.pause))
        case .open(let until, let pause):
            guard now >= until else { return .wait(until.since(now)) }
            self.state = .probing(pause: pause)
            return .ask
        }
    }

    /// Notes an answer, also one to a question from before the breaker opened.
    mutating func succeeded() { self.state = .closed(failures: 0, clients: []) }

    /// Notes a failure.
    /// - Parameter client: The client whose question failed.
    /// - Returns: `true` if the breaker opened with it.
    @discardableResult
    mutating func failed(_ client: BudgetCaller.Identity, at now: Timestamp) -> Bool {
        switch self.state {
        case .closed(let count, let known):
            let (failures, clients) = (min(count + 1, self.limits.failures), known.union([client]))
            guard failures >= self.limits.failures, clients.count >= self.limits.clients else {
                self.state = .closed(failures: failures, clients: clients)
                return false
            }
            self.open(for: self.limits.pause, at: now)
            return true
        case .probing(let pause):
            self.open(for: min(pause * 2, self.limits.longestPause), at: now)
            return false
        // A question from before the breaker opened.
        case .open: return false
        }
    }

    private mutating func open(for pause: Duration, at now: Timestamp) {
        self.state = .open(until: now.advanced(by: pause), pause: pause)
    }
}
