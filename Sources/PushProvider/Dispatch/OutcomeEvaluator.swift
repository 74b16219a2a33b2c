import PushSender
import PushStore
import PushSupport
import PushTypes

/// Makes a page's results from its outcomes: final states, retries, what is done about tokens, and how the push service
/// is doing.
struct OutcomeEvaluator {
    let notification: PreparedNotification
    let hygiene: TokenInvalidationPolicy
    let policy: RetryPolicy
    let sentAt: ClockReading
    let clocks: ClockReading
    private var now: Timestamp { self.clocks.later }

    private(set) var result: PageResult
    private(set) var report = AdaptiveRateLimiter.Report()
    private var generator = SystemRandomNumberGenerator()
    private var events = WebhookEvents()

    init(
        _ notification: PreparedNotification,
        hygiene: TokenInvalidationPolicy,
        policy: RetryPolicy,
        sentAt: ClockReading,
        clocks: ClockReading
    ) {
        self.notification = notification
        self.hygiene = hygiene
        self.policy = policy
        self.sentAt = sentAt
        self.clocks = clocks
        self.result = PageResult(notificationNumber: notification.number)
    }

    /// What the page came to, with what the webhooks are told.
    var finished: PageResult {
        var result = self.result
        if !self.events.isEmpty { result.events = self.events.data }
        return result
    }

    /// Nothing is sent, because the tries are over.
    mutating func end(_ retry: EndedRetry) {
        let delivery = DeliveryResult(
            recipient: retry.id,
            device: retry.recipient?.device ?? (retry.id > 0 ? retry.id : nil),
            state: retry.cause.state,
            reason: retry.cause.rawValue,
            attempts: retry.attempts,
            at: self.now
        )
        guard retry.cause == .deviceRemoved else { return self.finish(delivery, of: retry.recipient) }
        var events = WebhookEvents()
        if self.notification.tellsDeliveries { self.notification.tell(delivery, of: retry.recipient, in: &events) }
        self.result.departures.append(RemovedRecipient(delivery, event: events.isEmpty ? nil : events.data))
    }

    mutating func fail(_ recipient: Recipient, reason: String) {
        self.finish(recipient, .failed, reason: reason, attempts: recipient.attempts)
        self.report.rejected += 1
    }

    mutating func add(_ lot: PageDraft.PushBatch, _ outcomes: [Outcome]) async {
        var others: [EvaluatedPage] = []
        var answers: [PushEnvironment: TokenEvidence] = [:]
        var (accepted, ofEstablished) = (0, 0)
        let firstNew = await self.hygiene.firstNewDevice(now: self.now)
        self.result.deliveries.reserveCapacity(self.result.deliveries.count + lot.recipients.count)
        for (recipient, outcome) in zip(lot.recipients, outcomes) {
            if case .accepted = outcome {
                accepted += 1
                if TokenEvidence.isEstablished(recipient, firstNew: firstNew) { ofEstablished += 1 }
                self.accept(recipient)
                continue
            }
            self.count(outcome)
            let decision = self.decide(outcome, recipient)
            // What the other environment says of a token that is tried there counts for its own.
            let home = recipient.movedFrom ?? lot.environment
            let isEstablished = TokenEvidence.isEstablished(recipient, firstNew: firstNew)
            switch decision.token {
            case .dead: answers[home, default: .init()].add(.init(dead: 1), isEstablished: isEstablished)
            case .bad where !self.triesElsewhere(recipient, decision):
                answers[home, default: .init()].add(.init(bad: 1), isEstablished: isEstablished)
            case .bad, .unclear, nil: break
            }
            others.append((recipient, decision, isEstablished))
        }
        answers[lot.environment, default: .init()].established.accepted += ofEstablished
        answers[lot.environment, default: .init()].others.accepted += accepted - ofEstablished
        self.report.accepted += accepted
        await self.settle(others, answers, of: lot)
    }

    /// A recipient that was not accepted.
    private typealias EvaluatedPage = (recipient: Recipient, decision: DeliveryDecision, isEstablished: Bool)

    private mutating func settle(
        _ others: [EvaluatedPage],
        _ answers: [PushEnvironment: TokenEvidence],
        of lot: PageDraft.PushBatch
    ) async {
        var judgements: [PushEnvironment: TokenInvalidationPolicy.Evaluation] = [:]
        for environment in Set(others.map { $0.recipient.movedFrom ?? lot.environment }).union(answers.keys) {
            let judgement = await self.hygiene.judge(
                answers[environment] ?? .init(),
                app: self.notification.record.app,
                environment: environment,
                topic: self.notification.record.content.topic,
                now: self.now
            )
            judgements[environment] = judgement
            if let reason = judgement.opened, self.notification.record.lane == .bulk { self.result.pauses = reason }
        }
        for (recipient, decision, isEstablished) in others {
            let goesElsewhere = self.triesElsewhere(recipient, decision)
            if let answer = decision.token, let device = recipient.device,
                let verdict = judgements[recipient.movedFrom ?? lot.environment]?.verdict(
                    on: answer,
                    isEstablished: isEstablished,
                    sentAt: self.sentAt.wall,
                    triesElsewhere: goesElsewhere
                )
            {
                self.result.findings.append(
                    TokenStateChange(device: device, verdict: verdict, reason: decision.reason)
                )
            }
            if goesElsewhere {
                self.retry(
                    recipient,
                    in: lot.environment.other,
                    attempts: recipient.attempts + 1,
                    at: self.clocks.steady
                )
            } else {
                self.apply(decision, to: recipient)
            }
        }
    }

    private mutating func accept(_ recipient: Recipient) {
        self.finish(recipient, .accepted, reason: nil, attempts: recipient.attempts + 1)
        guard let device = recipient.device else { return }
        if recipient.movedFrom != nil {
            let verdict = TokenStateChange.Verdict.moved(to: recipient.environment)
            self.result.findings.append(
                TokenStateChange(
                    device: device,
                    verdict: verdict,
                    reason: "accepted in the other environment",
                    token: recipient.token
                )
            )
        } else if recipient.isSuspected {
            self.result.findings.append(TokenStateChange(device: device, verdict: .good))
        }
    }

    private mutating func decide(_ outcome: Outcome, _ recipient: Recipient) -> DeliveryDecision {
        // A token that is bad in its own environment does not wait until the other one can be reached.
        if recipient.movedFrom != nil, case .notSent = outcome {
            let reason = Reason.badDeviceToken.rawValue
            return DeliveryDecision(next: .final(.rejected, reason: reason), token: .unclear, reason: reason)
        }
        return DeliveryDecision.make(
            outcome,
            attempts: recipient.attempts + 1,
            sentAt: self.sentAt.wall,
            expires: self.notification.record.lastRetry(sentAt: self.sentAt.earlier, isRetry: recipient.attempts > 0),
            repeatsUnknown: self.notification.record.guarantee == .atLeastOnce,
            policy: self.policy,
            clocks: self.notification.record.clocksOfExpiry(self.clocks),
            using: &self.generator
        )
    }

    /// A token that is bad here may belong to the other environment: it is tried there once, where the app has a
    /// credential for it (reference 7.7).
    private func triesElsewhere(_ recipient: Recipient, _ decision: DeliveryDecision) -> Bool {
        decision.token == .bad && decision.reason == Reason.badDeviceToken.rawValue && recipient.movedFrom == nil
            && recipient.device != nil && self.notification.record.environment == nil
            && self.notification.senders[recipient.environment.other] != nil
    }

    private mutating func apply(_ decision: DeliveryDecision, to recipient: Recipient) {
        switch decision.next {
        case .final(let state, let reason):
            self.finish(recipient, state, reason: reason, attempts: recipient.attempts + 1)
        case .retry(let at, var attempts):
            // What is not to be stored has one more try, whether or not the first one left.
            if self.notification.record.content.expiration == .immediate {
                attempts = max(attempts, recipient.attempts + 1)
            }
            let environment = recipient.movedFrom == nil ? nil : recipient.environment
            self.retry(recipient, in: environment, attempts: attempts, at: at)
        }
    }

    private mutating func finish(
        _ recipient: Recipient,
        _ state: DeliveryRecord.State,
        reason: String?,
        attempts: Int
    ) {
        let delivery = DeliveryResult(
            recipient: recipient.id,
            device: recipient.device,
            state: state,
            reason: reason,
            attempts: attempts,
            at: self.now
        )
        self.finish(delivery, of: recipient)
    }

    private mutating func finish(_ delivery: DeliveryResult, of recipient: Recipient?) {
        self.result.deliveries.append(delivery)
        if self.notification.tellsDeliveries { self.notification.tell(delivery, of: recipient, in: &self.events) }
    }

    private mutating func retry(
        _ recipient: Recipient,
        in environment: PushEnvironment?,
        attempts: Int,
        at: Timestamp
    ) {
        self.result.retries.append(
            RetryResult(recipient: recipient.id, environment: environment, attempts: attempts, dueAt: at)
        )
    }

    private mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: break
        case .rejected(let rejection) where rejection.status == 429:
            self.report.throttled += 1
            self.note(rejection.retryAfter)
        case .rejected(let rejection) where rejection.status >= 500:
            self.report.unavailable += 1
            self.note(rejection.retryAfter)
        case .rejected: self.report.rejected += 1
        case .notSent, .unknown: self.report.unreachable += 1
        }
    }

    private mutating func note(_ retryAfter: Duration?) {
        guard let retryAfter else { return }
        self.report.retryAfter = max(retryAfter, self.report.retryAfter ?? .zero)
    }
}

extension PushEnvironment {
    var other: PushEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}

extension PreparedNotification {
    /// Appends a final state to what the webhooks are told.
    fileprivate func tell(_ delivery: DeliveryResult, of recipient: Recipient?, in events: inout WebhookEvents) {
        events.append(
            delivery,
            apnsID: self.ids.text(recipient: delivery.recipient),
            to: recipient,
            notification: self.record.id
        )
    }
}
