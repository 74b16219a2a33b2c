import PushSupport
import PushTypes

/// A circuit breaker that decides whether requests are sent to a publisher's server. After several consecutive
/// failures, none is sent for a while, and then one at a time until one gets a response.
///
/// Failures that the content of a request can cause count only if they come from several sites, so that a client with
/// invented tokens, on which the server fails, harms only itself. Without any response, sites do not matter.
package struct PublisherBreaker: Hashable, Sendable {
    /// The thresholds at which the breaker opens, and its pauses.
    package struct Limits: Hashable, Sendable {
        /// The number of consecutive failures that opens the breaker. Default 5.
        package var failures = 5
        /// The minimum number of client sites among these failures, unless the server did not respond. Default 3.
        package var sites = 3
        /// The first time for which the breaker stays open. It doubles with each failed probe. Default 10 s.
        package var pause: Duration = .seconds(10)
        /// The maximum time for which the breaker stays open before a probe. It stops doubling there. Default 5 min.
        package var longestPause: Duration = .seconds(300)

        package init() {}
    }

    enum Admission: Hashable, Sendable {
        case ask
        /// The decision that no request may be sent for this duration.
        case wait(Duration)
    }

    /// The site of a client. All IPv6 networks of one customer are one site.
    struct Site: Hashable, Sendable {
        private let identity: BudgetCaller.Identity

        init(_ client: BudgetCaller.Identity) { self.identity = client.site }
    }

    enum Failure: Hashable, Sendable {
        /// A failure of the server on a request from this site, which is `nil` if the site is not known.
        case question(Site?)
        /// A failure of the server to respond at all.
        case connection
    }

    private let limits: Limits
    private var breaker: ProbingBreaker
    /// The numbers of consecutive failures while the breaker is closed: of all, and of the latest without response.
    private var failures = 0, silences = 0
    private var sites: Set<Site?> = []

    init(limits: Limits = Limits()) {
        self.limits = limits
        self.breaker = ProbingBreaker(pause: limits.pause, longestPause: limits.longestPause)
    }

    /// A Boolean value that indicates whether no request, or only a probe, may be sent.
    var isOpen: Bool { self.breaker.isOpen }

    /// Decides whether a request is sent. If so, ``succeeded()``, ``failed(_:at:)`` or ``notAsked(at:)`` must follow.
    /// - Parameter now: The current time by the steady clock.
    mutating func admit(at now: Timestamp) -> Admission { self.breaker.admit(at: now).map { .wait($0) } ?? .ask }

    /// Closes the breaker after a response, even to a request that was sent before the breaker opened.
    mutating func succeeded() { self = PublisherBreaker(limits: self.limits) }

    /// Records that an admitted request was not sent, which says nothing about the server. The next one may be sent.
    mutating func notAsked(at now: Timestamp) { self.breaker.notTried(at: now) }

    /// Records a failure, which may open the breaker, or prolong its pause.
    /// - Returns: `true` if this failure opened the breaker, and `false` otherwise.
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
