package import PushStore
package import PushSupport
package import PushTypes

/// Why a post was not taken.
package enum WebhookFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The receiver answered something else than 2xx.
    case status(Int, retryAfter: Duration?)
    case noAnswer(why: String)
    /// The URL, or what its name resolves to, is not allowed.
    case refused(why: String)
    /// The record holds no secret.
    case unsignable

    package var description: String {
        switch self {
        case .status(let status, _): "the receiver answered with HTTP status \(status)"
        case .noAnswer(let why): "no answer: \(why)"
        case .refused(let why): "the address is not allowed: \(why)"
        case .unsignable: "the webhook has no secret to sign with"
        }
    }
}

/// When failed posts are repeated, and when a webhook is given up.
package struct WebhookPolicy: Hashable, Sendable {
    /// Default: up to 1 s after the first failure, doubling to 15 min.
    package var backoff = Backoff(base: .seconds(1), maximum: .seconds(15 * 60))
    /// A receiver's `retry-after` counts up to this. Default 1 h.
    package var maximumRetryAfter: Duration = .seconds(3600)
    /// A webhook is given up when it has taken nothing for so long. Default 3 days.
    package var patience: Duration = .seconds(3 * 86_400)
    /// And when so many posts in a row have failed: about two days of tries, for webhooks that had nothing to take
    /// before. Default 400.
    package var leastFailures = 400

    package init() {}
}

/// What one webhook does next, decided from its record: idle, posting, backing off, or given up.
package struct WebhookStateMachine: Hashable, Sendable {
    package private(set) var record: WebhookRecord
    private let policy: WebhookPolicy

    package init(_ record: WebhookRecord, policy: WebhookPolicy = WebhookPolicy()) {
        self.record = record
        self.policy = policy
    }

    /// Whether it may post now, if there is anything to tell. A next try later than any back-off was written under a clock
    /// that was wrong.
    /// - Parameter now: of the steady clock.
    package func isDue(at now: Timestamp) -> Bool {
        guard self.record.isActive, let next = self.record.nextTryAt else { return self.record.isActive }
        let longest = max(self.policy.backoff.maximum, self.policy.maximumRetryAfter)
        return next <= now || next > now.advanced(by: longest)
    }

    /// The receiver has taken everything up to and including block `last`.
    package mutating func taken(through last: Int64, at now: Timestamp) {
        self.record.cursor = last
        self.record.lastSuccessAt = now
        self.forgetFailures()
    }

    /// A post was not taken: it is repeated later, or the webhook is given up.
    package mutating func failed(
        _ failure: WebhookFailure,
        at clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) {
        let failures = self.record.failures.addingReportingOverflow(1)
        self.record.failures = failures.overflow ? .max : failures.partialValue
        self.record.lastError = failure.description
        if case .status(410, _) = failure {
            return self.giveUp("the receiver answered with HTTP status 410: it is gone")
        }
        let idle = clocks.wall.since(self.record.lastSuccessAt ?? self.record.createdAt)
        if self.record.failures >= self.policy.leastFailures, idle >= self.policy.patience {
            let hours = idle.components.seconds / 3600
            return self.giveUp("nothing was taken for \(hours) h, \(self.record.failures) posts; the last: \(failure)")
        }
        var delay = self.policy.backoff.delay(afterFailures: self.record.failures, using: &generator)
        if case .status(_, let after?) = failure { delay = max(delay, min(after, self.policy.maximumRetryAfter)) }
        self.record.nextTryAt = clocks.steady.advanced(by: delay)
    }

    private mutating func forgetFailures() {
        self.record.failures = 0
        self.record.nextTryAt = nil
        self.record.lastError = nil
    }

    private mutating func giveUp(_ why: String) {
        self.record.isActive = false
        self.record.nextTryAt = nil
        self.record.lastError = "disabled: \(why)"
    }
}
