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

    private let limits: Limits
    private var breaker: ProbingBreaker
    /// The failures in a row while it is closed, and the latest in a row of which nothing was heard.
    private var failures = 0, silences = 0
    /// The sites of the failures in a row that were heard of.
    private var sites: Set<Site?> = []

    init(limits: Limits = Limits()) {
        self.limits = limits
        self.breaker = ProbingBreaker(pause: limits.pause, longestPause: limits.longestPause)
    }

    /// `true` while nothing, or a single question, may be asked.
    var isOpen: Bool { self.breaker.isOpen }

    /// Decides about a question. One that is asked must end with ``succeeded()``, ``failed(_:at:)`` or ``notAsked(at:)``.
    /// - Parameter now: The steady clock.
    mutating func admit(at now: Timestamp) -> Admission { self.breaker.admit(at: now).map { .wait($0) } ?? .ask }

    /// Notes an answer, also one to a question from before the breaker opened.
    mutating func succeeded() { self = PublisherBreaker(limits: self.limits) }

    /// Notes that a question was not asked after all, which says nothing about the server. The next one may be.
    mutating func notAsked(at now: Timestamp) { self.breaker.notTried(at: now) }

    /// Notes a failure.
    /// - Returns: `true` if the breaker opened with it.
    @discardableResult
    mutating func failed(_ failure: Failure, at now: Timestamp) -> Bool {
        guard !self.isOpen else {
            self.breaker.failed(at: now)
            return false
        }
        self.failures = min(self.failures + 1, self.limits.failures)
        switch failure {
        case .question(let site):
            self.sites.insert(site)
            self.silences = 0
        case .connection: self.silences += 1
        }
        let isOfMany = self.failures >= self.limits.failures && self.sites.count >= self.limits.sites
        guard isOfMany || self.silences >= self.limits.failures else { return false }
        self.breaker.open(at: now)
        return true
    }
}
