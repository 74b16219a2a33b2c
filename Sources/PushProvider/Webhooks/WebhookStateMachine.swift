import ProviderModel
package import PushSupport
import PushTypes

/// The failure of a request that the receiver of a webhook did not accept.
enum WebhookFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A response with a status other than 2xx. `retryAfter` is the delay that the receiver requested, if any.
    case status(Int, retryAfter: Duration?)
    /// A request without a response, or without a connection.
    case noResponse(reason: String)
    /// A request that was not sent, for a reason within the provider. It says nothing about the receiver.
    case notPosted(reason: String)
    /// A URL that the policy does not allow, or whose host name has no allowed address. Nothing was sent.
    case addressNotAllowed(reason: String)
    /// A webhook without a secret, so that the request cannot be signed.
    case unsignable

    var description: String {
        switch self {
        case .status(let status, _): "the receiver responded with HTTP status \(status)"
        case .noResponse(let reason): "no response: \(reason)"
        case .notPosted(let reason): "not posted: \(reason)"
        case .addressNotAllowed(let reason): "the address is not allowed: \(reason)"
        case .unsignable: "the webhook has no secret to sign with"
        }
    }
}

/// The delays after failed requests to a webhook, and the conditions under which it is disabled.
package struct WebhookPolicy: Hashable, Sendable {
    /// The back-off after a failed request. Default up to 1 s after the first failure, doubling to 15 min.
    package var backoff = Backoff(base: .seconds(1), maximum: .seconds(15 * 60))
    /// The maximum `retry-after` delay that is obeyed. A longer one is shortened to it. Default 1 h.
    package var maximumRetryAfter: Duration = .seconds(3600)
    /// The time without an accepted request after which a webhook is disabled, if ``leastFailures`` is reached as well.
    /// Default 3 days.
    package var patience: Duration = .seconds(3 * 86_400)
    /// The minimum number of consecutive failed requests before a webhook is disabled. It is about two days of
    /// attempts, for webhooks that had no events for a long time. Default 400.
    package var leastFailures = 400

    package init() {}
}

/// Determines the next state of one webhook from its record: idle, backing off, or disabled.
struct WebhookStateMachine: Hashable, Sendable {
    private(set) var record: WebhookRecord
    private let policy: WebhookPolicy

    init(_ record: WebhookRecord, policy: WebhookPolicy = WebhookPolicy()) {
        (self.record, self.policy) = (record, policy)
    }

    /// Returns whether a request may be sent to the webhook now. If the time of the next attempt is later than the
    /// longest back-off, it was stored under a wrong clock and is ignored.
    /// - Parameter now: The current time by the steady clock.
    func isDue(at now: Timestamp) -> Bool {
        guard self.record.isActive, let next = self.record.nextTryAt else { return self.record.isActive }
        let longest = max(self.policy.backoff.maximum, self.policy.maximumRetryAfter)
        return next <= now || next > now.advanced(by: longest)
    }

    /// Records that the receiver has accepted all events up to and including block `last`.
    mutating func accepted(through last: Int64, at now: Timestamp) {
        self.record.cursor = last
        self.record.lastSuccessAt = now
        self.forgetFailures()
    }

    /// Records a failed request. It is repeated later, or the webhook is disabled. A request that was not sent does not
    /// count as a failure.
    mutating func failed(
        _ failure: WebhookFailure,
        at clocks: ClockReading,
        using generator: inout some RandomNumberGenerator
    ) {
        if case .notPosted = failure {
            let delay = self.policy.backoff.delay(afterFailures: max(1, self.record.failures), using: &generator)
            self.record.lastError = failure.description
            self.record.nextTryAt = clocks.steady.advanced(by: delay)
            return
        }
        let failures = self.record.failures.addingReportingOverflow(1)
        self.record.failures = failures.overflow ? .max : failures.partialValue
        self.record.lastError = failure.description
        if case .status(410, _) = failure {
            return self.disable("the receiver responded with HTTP status 410: it is gone")
        }
        let idle = clocks.wall.since(self.record.lastSuccessAt ?? self.record.createdAt)
        if self.record.failures >= self.policy.leastFailures, idle >= self.policy.patience {
            let hours = idle.components.seconds / 3600
            return self.disable(
                "no post was accepted for \(hours) h, \(self.record.failures) posts; the last: \(failure)"
            )
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

    private mutating func disable(_ reason: String) {
        self.record.isActive = false
        self.record.nextTryAt = nil
        self.record.lastError = "disabled: \(reason)"
    }
}
