import PushSupport
import PushTypes

/// Decides whether a publisher's server is asked: not for a while after several failures in a row, and then by one question
/// until one is answered.
///
/// Failures that a question can cause must be those of several sites: what one client makes up, such as tokens on which a server
/// fails, is its own harm. That nothing is heard of the server at all counts whoever asks, because behind a proxy all are one site.
package struct PublisherBreaker: Hashable, Sendable {
    /// The numbers of failures and the pauses.
    package struct Limits: Hashable, Sendable {
        /// The failures in a row from which nothing is asked. Default 5.
        package var failures = 5
        /// The number of sites whose failures these must be, unless nothing was heard of the server. Default 3.
        package var sites = 3
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

    /// The site of a client: one that has many networks of IPv6 is one.
    struct Site: Hashable, Sendable {
        private let identity: BudgetCaller.Identity

        init(_ client: BudgetCaller.Identity) { self.identity = client.site }
    }

    /// The kind of a failure.
    enum Failure: Hashable, Sendable {
        /// The server failed on a question from this site; `nil` where that is not known.
        case question(Site?)
        /// Nothing was heard of the server.
        case connection
    }

    private enum State: Hashable, Sendable {
        /// The failures in a row, the sites of those that were heard of, and the latest in a row of which nothing was heard.
        case closed(failures: Int, sites: Set<Site?>, silences: Int)
        case open(until: Timestamp, pause: Duration)
        /// One question is under way to find out whether the server is back.
        case probing(pause: Duration)
    }

    private let limits: Limits
    private var state = State.closed(failures: 0, sites: [], silences: 0)

    init(limits: Limits = Limits()) { self.limits = limits }

    /// `true` while nothing, or a single question, may be asked.
    var isOpen: Bool {
        if case .closed = self.state { false } else { true }
    }

    /// Decides about a question. One that is asked must end with ``succeeded()``, ``failed(_:at:)`` or ``notAsked(at:)``.
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
    mutating func succeeded() { self.state = .closed(failures: 0, sites: [], silences: 0) }

    /// Notes that a question was not asked after all, which says nothing about the server. The next one may be.
    mutating func notAsked(at now: Timestamp) {
        if case .probing(let pause) = self.state { self.state = .open(until: now, pause: pause) }
    }

    /// Notes a failure.
    /// - Returns: `true` if the breaker opened with it.
    @discardableResult
    mutating func failed(_ failure: Failure, at now: Timestamp) -> Bool {
        switch self.state {
        case .closed(let count, var sites, var silences):
            let failures = min(count + 1, self.limits.failures)
            switch failure {
            case .question(let site):
                sites.insert(site)
                silences = 0
            case .connection: silences += 1
            }
            let isOfMany = failures >= self.limits.failures && sites.count >= self.limits.sites
            guard isOfMany || silences >= self.limits.failures else {
                self.state = .closed(failures: failures, sites: sites, silences: silences)
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
