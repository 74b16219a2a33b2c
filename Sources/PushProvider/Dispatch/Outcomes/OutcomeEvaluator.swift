import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTypes

/// Evaluates the outcomes of a page: final states, retries, token changes, and a report about the push service.
struct OutcomeEvaluator {
    private let notification: PreparedNotification
    private let invalidation: TokenInvalidationPolicy
    private let faults: ConfigurationFaultTracker
    private let policy: RetryPolicy
    private let sentAt, clocks: ClockReading
    private var now: Timestamp { self.clocks.later }

    private var result: PageResult
    private(set) var report = AdaptiveRateLimiter.Report()
    private(set) var tally = DeliveryTally()
    private var generator = SystemRandomNumberGenerator()
    private var events = WebhookEventEncoder()
    /// The transmission of the push whose outcome is being evaluated, or `nil` if it is not known.
    private var trip: PushTrip?

    init(
        _ notification: PreparedNotification,
        invalidation: TokenInvalidationPolicy,
        faults: ConfigurationFaultTracker,
        policy: RetryPolicy,
        sentAt: ClockReading,
        clocks: ClockReading
    ) {
        self.notification = notification
        (self.invalidation, self.faults, self.policy) = (invalidation, faults, policy)
        (self.sentAt, self.clocks) = (sentAt, clocks)
        self.result = PageResult(notificationNumber: notification.number)
    }

    /// The complete result of the page, including the events for webhooks.
    var finished: PageResult {
        var result = self.result
        if !self.events.isEmpty { result.events = self.events.data }
        result.forgetsContent = self.isRefusedStranger
        return result
    }

    func times(claimedAt: Timestamp?) -> PageTimes {
        PageTimes(claimedAt: claimedAt, sentAt: self.sentAt.later, answeredAt: self.now)
    }

    /// Evaluates the outcomes of one batch, in the order of its recipients, and adds them to the result.
    mutating func add(_ batch: PageDraft.PushBatch, _ sent: SentPushes) async {
        let firstConnection = Int32(clamping: self.result.connections.count)
        self.result.connections += sent.connections
        defer { self.trip = nil }
        var others: [Unaccepted] = []
        var evidence: [PushEnvironment: TokenEvidence] = [:]
        var (accepted, ofEstablished, ofStrangers) = (0, 0, [DeviceToken]())
        var faulty = FaultyRecipients()
        let firstNew = await self.invalidation.firstNewDevice(now: self.now)
        self.result.deliveries.reserveCapacity(self.result.deliveries.count + batch.recipients.count)
        for (index, (recipient, outcome)) in zip(batch.recipients, sent.outcomes).enumerated() {
            if index < sent.trips.count { self.trip = sent.trips[index].movedBehind(firstConnection) }
            if case .accepted = outcome {
                accepted += 1
                if TokenEvidence.isEstablished(recipient, firstNew: firstNew) { ofEstablished += 1 }
                if self.isOfStranger(recipient) { ofStrangers.append(recipient.token) }
                self.accept(recipient)
                continue
            }
            self.count(outcome)
            if let fault = ConfigurationFault(outcome, at: batch.endpoint), !self.isOfBroadcasts(fault, outcome) {
                faulty.add(recipient, outcome, fault, self.trip)
                continue
            }
            if recipient.movedFrom != nil, case .notSent = outcome {
                self.abandon(recipient, .init(outcome))
                continue
            }
            var decision = self.decide(outcome, recipient)
            if !self.notification.hasTopicOfTokens { decision.token = nil }
            // If a token is attempted in the other environment, the response counts for the token's own environment.
            let home = recipient.movedFrom ?? batch.environment
            let isEstablished = TokenEvidence.isEstablished(recipient, firstNew: firstNew)
            let isEvidence = if decision.token == nil { false } else { await self.isEvidence(recipient, in: home) }
            switch decision.token {
            case _ where !isEvidence: break
            case .deactivated: evidence[home, default: .init()].add(.init(dead: 1), isEstablished: isEstablished)
            case .suspected where !self.notification.triesElsewhere(recipient, decision):
                evidence[home, default: .init()].add(.init(bad: 1), isEstablished: isEstablished)
            case .confirmed, .suspected, .withheld, .moved, nil: break
            }
            others.append((recipient, decision, DeliveryTally.Reason(outcome), isEstablished, self.trip))
        }
        if self.notification.hasTopicOfTokens, !self.notification.isWeb {
            evidence[batch.environment, default: .init()].established.accepted += ofEstablished
            evidence[batch.environment, default: .init()].others.accepted +=
                accepted - ofEstablished - ofStrangers.count
            evidence[batch.environment, default: .init()].reached.formUnion(ofStrangers)
        }
        self.report.accepted += accepted
        self.tally.add(.accepted, .none, in: batch.environment, count: accepted)
        if !faulty.isEmpty {
            await self.apply(faulty, of: batch, accepted: accepted)
        } else if accepted > 0, !self.notification.isWeb {
            self.faults.accepted(AppEnvironment(app: self.notification.record.app, environment: batch.environment))
        }
        await self.apply(others, evidence, of: batch)
    }

    private typealias Unaccepted = (
        recipient: Recipient, decision: DeliveryDecision, reason: DeliveryTally.Reason, isEstablished: Bool,
        trip: PushTrip?
    )

    private mutating func apply(
        _ others: [Unaccepted],
        _ evidence: [PushEnvironment: TokenEvidence],
        of batch: PageDraft.PushBatch
    ) async {
        var evaluations: [PushEnvironment: TokenInvalidationPolicy.Evaluation] = [:]
        for environment in Set(others.map { $0.recipient.movedFrom ?? batch.environment }).union(evidence.keys) {
            let evaluation = await self.evaluation(of: evidence[environment] ?? .init(), in: environment)
            evaluations[environment] = evaluation
            if let reason = evaluation.opened, self.notification.record.lane == .bulk { self.result.pauses = reason }
        }
        for (recipient, decision, reason, isEstablished, trip) in others {
            self.trip = trip
            let goesElsewhere = self.notification.triesElsewhere(recipient, decision)
            if let requested = decision.token,
                let kind = evaluations[recipient.movedFrom ?? batch.environment]?.change(
                    requested,
                    isEstablished: isEstablished,
                    sentAt: self.sentAt.wall,
                    triesElsewhere: goesElsewhere
                )
            {
                self.change(recipient, kind, requested, decision.reason)
            }
            var result = DeliveryTally.Result.retried
            if !goesElsewhere, case .final(let state, _) = decision.next { result = .init(state) ?? result }
            self.tally.add(result, reason, in: batch.environment)
            if goesElsewhere {
                self.retry(
                    recipient,
                    in: batch.environment.other,
                    attempts: recipient.attempts + 1,
                    mayHaveArrived: recipient.mayHaveArrived,
                    at: self.clocks.steady,
                    after: decision
                )
            } else {
                self.apply(decision, to: recipient)
            }
        }
    }

    /// Adds the change of a recipient's token to the result: that of its device and, if the notification itself names
    /// the token and the token is invalid, the token as well.
    private mutating func change(
        _ recipient: Recipient,
        _ kind: TokenStateChange.Kind,
        _ requested: TokenStateChange.Kind,
        _ reason: String?
    ) {
        self.addChange(of: recipient, kind, reason: reason)
        guard case .tokens = self.notification.record.audience, case .deactivated(let since) = kind else { return }
        let invalid = InvalidNamedToken(
            token: recipient.token,
            environment: recipient.environment,
            since: since,
            isUnregistered: requested != .suspected
        )
        self.result.invalidTokens.append(invalid)
    }

    /// Returns the evaluation of the page's responses for the tokens of an environment.
    ///
    /// A response of a browser's push service concerns one subscription only: no wrong setting makes a good
    /// subscription look dead. So such responses do not count towards the circuit breakers of Apple's environments.
    private func evaluation(
        of evidence: TokenEvidence,
        in environment: PushEnvironment
    ) async -> TokenInvalidationPolicy.Evaluation {
        guard !self.notification.isWeb else { return .unlimited }
        return await self.invalidation.evaluate(
            evidence,
            app: self.notification.record.app,
            environment: environment,
            epoch: self.notification.epochs[environment] ?? 0,
            topic: self.notification.record.content.topic,
            now: self.now
        )
    }

    private mutating func accept(_ recipient: Recipient) {
        self.finish(recipient, .accepted, reason: nil, attempts: recipient.attempts + 1)
        if recipient.movedFrom != nil {
            self.addChange(
                of: recipient,
                .moved(to: recipient.environment),
                reason: "accepted in the other environment"
            )
        } else if recipient.isSuspected {
            self.addChange(of: recipient, .confirmed)
        }
    }

    /// Adds a change of a recipient's device to the result. A recipient without a device changes nothing.
    private mutating func addChange(of recipient: Recipient, _ kind: TokenStateChange.Kind, reason: String? = nil) {
        guard let device = recipient.device else { return }
        let change = TokenStateChange(device: device, kind: kind, reason: reason, token: recipient.token)
        self.result.tokenChanges.append(change)
    }

    private mutating func decide(_ outcome: Outcome, _ recipient: Recipient) -> DeliveryDecision {
        DeliveryDecision.make(
            outcome,
            attempts: recipient.attempts + 1,
            sentAt: self.sentAt.wall,
            expires: self.notification.expiry.lastRetry(of: recipient, sentAt: self.sentAt.earlier),
            mayHaveArrived: recipient.mayHaveArrived,
            repeatsUnknown: self.notification.record.guarantee == .atLeastOnce,
            policy: self.policy,
            clocks: self.notification.record.clocksOfExpiry(self.clocks),
            using: &self.generator
        )
    }

    private mutating func apply(_ decision: DeliveryDecision, to recipient: Recipient) {
        switch decision.next {
        case .final(let state, let reason):
            self.finish(recipient, state, reason: reason, attempts: recipient.attempts + 1)
        case .retry(let at, var attempts):
            // A notification that is not to be stored has one more attempt, even if the first push was not sent.
            if self.notification.record.content.expiration == .immediate {
                attempts = max(attempts, recipient.attempts + 1)
            }
            let environment = recipient.movedFrom == nil ? nil : recipient.environment
            self.retry(
                recipient,
                in: environment,
                attempts: attempts,
                mayHaveArrived: decision.mayHaveArrived,
                at: at,
                after: decision
            )
        }
    }

    private mutating func add(_ request: EnvironmentPauseRequest) { self.result.environmentPauses.append(request) }

    private mutating func pauseNotification(_ fault: ConfigurationFault) {
        let topic = self.notification.record.content.topic
        self.result.pauses = "\(fault.description); this notification's topic is \(topic)"
    }

    /// Holds a recipient back because of a configuration fault. The attempt does not count.
    private mutating func hold(_ recipient: Recipient, _ outcome: Outcome, _ fault: ConfigurationFault) {
        let clocks = self.notification.record.clocksOfExpiry(self.clocks)
        if var retry = self.notification.held(recipient, isRetry: recipient.attempts > 0, at: clocks) {
            let reason = "held back: \(fault.description)"
            retry.attempt = AttemptResult(reason: reason, wasSent: false, trip: self.trip)
            self.result.retries.append(retry)
            self.tally.add(.retried, .init(outcome), in: recipient.environment)
        } else {
            let state = recipient.failure
            self.tally.add(.init(state) ?? .failed, .init(outcome), in: recipient.environment)
            let reason = Optional(fault).expiryReason
            self.finish(recipient, state, reason: reason, attempts: recipient.attempts + 1)
        }
    }

    /// Schedules a retry of a recipient whose outcome suggests a configuration fault that is not proven.
    private mutating func tryAgain(_ recipient: Recipient, _ outcome: Outcome) {
        let decision = self.decide(outcome, recipient)
        var result = DeliveryTally.Result.retried
        if case .final(let state, _) = decision.next { result = .init(state) ?? result }
        self.tally.add(result, .init(outcome), in: recipient.environment)
        self.apply(decision, to: recipient)
    }

    private mutating func finish(
        _ recipient: Recipient,
        _ state: DeliveryRecord.State,
        reason: String?,
        attempts: Int
    ) {
        var delivery = DeliveryResult(
            recipient: recipient.id,
            device: recipient.device,
            state: state,
            reason: reason,
            attempts: attempts,
            at: self.now
        )
        delivery.trip = self.trip
        self.finish(delivery, of: recipient)
    }

    private mutating func finish(_ delivery: DeliveryResult, of recipient: Recipient?) {
        self.result.deliveries.append(delivery)
        guard self.notification.reportsDeliveries else { return }
        self.notification.append(delivery, of: recipient, to: &self.events)
    }

    private mutating func retry(
        _ recipient: Recipient,
        in environment: PushEnvironment?,
        attempts: Int,
        mayHaveArrived: Bool,
        at: Timestamp,
        after decision: DeliveryDecision
    ) {
        var retry = RetryResult(recipient: recipient.id, environment: environment, attempts: attempts, dueAt: at)
        retry.mayHaveArrived = mayHaveArrived
        let reason = decision.reason ?? "no reason"
        retry.attempt = AttemptResult(reason: reason, wasSent: decision.wasSent, trip: self.trip)
        self.result.retries.append(retry)
    }

    private mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .accepted: break
        // A browser's push service is one of many, and the sender itself pauses messages to it.
        case .rejected where self.notification.isWeb: self.report.rejected += 1
        case .rejected(let rejection) where rejection.status == 429 || rejection.status >= 500:
            if rejection.status == 429 { self.report.throttled += 1 } else { self.report.unavailable += 1 }
            guard let retryAfter = rejection.retryAfter else { return }
            self.report.retryAfter = max(retryAfter, self.report.retryAfter ?? .zero)
        case .rejected: self.report.rejected += 1
        // The failure concerns this push only, and there was no attempt to reach the push service.
        case .notSent(let failure) where failure.isOfPush: break
        case .notSent, .unknown: self.report.unreachable += 1
        }
    }
}

/// The outcomes of recipients to which no push is sent, and of proven configuration faults.
extension OutcomeEvaluator {
    /// Adds the final state of a recipient for which no attempt, or no further attempt, is made.
    /// - Parameter isWritten: `true` if the ledger already contains the state, which is then only counted.
    mutating func end(_ retry: EndedRetry, isWritten: Bool) {
        if let result = DeliveryTally.Result(retry.state) {
            self.tally.add(result, .ended(retry.cause), in: retry.recipient?.environment)
        }
        guard !isWritten else { return }
        let delivery = self.notification.ended(retry, at: self.now)
        guard retry.cause == .deviceRemoved else { return self.finish(delivery, of: retry.recipient) }
        self.result.removed.append(self.notification.reported(delivery, of: retry.recipient))
    }

    mutating func fail(_ recipient: Recipient, reason: String) {
        self.finish(recipient, recipient.failure, reason: reason, attempts: recipient.attempts)
        self.report.rejected += 1
        self.tally.add(.init(recipient.failure) ?? .failed, .unsendable, in: recipient.environment)
    }

    /// Adds the final state of a skipped recipient.
    /// - Parameter isWritten: `true` if the ledger already contains the state, which is then only counted.
    mutating func skip(_ recipient: Recipient, _ reason: SkipReason, isWritten: Bool) {
        let delivery = self.notification.skipped(recipient, reason, at: self.now)
        self.tally.add(.init(delivery.state) ?? .skipped, .skipped(reason), in: recipient.environment)
        if !isWritten { self.finish(delivery, of: recipient) }
    }

    /// Rejects a recipient whose token is bad in its own environment, and cannot be attempted in the other one now.
    mutating func abandon(_ recipient: Recipient, _ tried: DeliveryTally.Reason) {
        self.tally.add(.rejected, tried, in: recipient.environment)
        let reason = Reason.badDeviceToken.rawValue
        if self.notification.hasTopicOfTokens { self.addChange(of: recipient, .suspected, reason: reason) }
        self.finish(recipient, .rejected, reason: reason, attempts: recipient.attempts + 1)
    }

    /// Returns whether a rejection only means that the push service does not support broadcasts.
    private func isOfBroadcasts(_ fault: ConfigurationFault, _ outcome: Outcome) -> Bool {
        guard self.notification.channel != nil, case .rejected = outcome else { return false }
        return fault.cause == .wrongProtocol
    }

    /// Records the fault of an environment whose credential cannot be used, which pauses the environment.
    mutating func pause(_ environment: PushEnvironment, _ fault: ConfigurationFault) async {
        _ = await self.record(fault, count: 1, isRefuted: false, in: environment)
    }

    /// Holds recipients back if their configuration fault is proven. Until then they are retried, and their attempts
    /// count if there was a response.
    private mutating func apply(_ faulty: FaultyRecipients, of batch: PageDraft.PushBatch, accepted: Int) async {
        guard let (fault, count) = faulty.commonest else { return }
        let isHeld: Bool
        switch fault.scope(topic: self.notification.record.content.topic, bundleID: self.notification.app?.bundleID) {
        case .notification:
            if accepted == 0 { self.pauseNotification(fault) }
            isHeld = false
        case .environment:
            let proofs = fault.proofs(ofPushes: count)
            isHeld = await self.record(fault, count: proofs, isRefuted: accepted > 0, in: batch.environment)
        }
        for (recipient, outcome, trip) in faulty.all {
            self.trip = trip
            if recipient.movedFrom != nil {
                self.abandon(recipient, .init(outcome))
            } else if isHeld {
                self.hold(recipient, outcome, fault)
            } else {
                self.tryAgain(recipient, outcome)
            }
        }
    }

    /// Records proofs of a fault, and returns whether the environment is paused.
    private mutating func record(
        _ fault: ConfigurationFault,
        count: Int,
        isRefuted: Bool,
        in environment: PushEnvironment
    ) async -> Bool {
        let recorded = await self.faults.record(
            fault,
            count: count,
            isRefuted: isRefuted,
            of: AppEnvironment(app: self.notification.record.app, environment: environment),
            epoch: self.notification.epochs[environment] ?? 0
        )
        if let request = recorded?.request { self.add(request) }
        return recorded != nil
    }

    /// A Boolean value that indicates whether the push was requested without a credential. Only Matrix homeservers do
    /// so: the clients of all other bridges have a certificate, a secret, a session or an API key.
    private var isOfStranger: Bool { self.notification.record.acceptance.origin?.kind == .matrix }

    /// Returns whether the recipient is an unregistered token that was named by a request without a credential. The
    /// client may have made up such a token.
    private func isOfStranger(_ recipient: Recipient) -> Bool { recipient.device == nil && self.isOfStranger }

    /// Returns whether the rejection of a token counts as evidence about the app's other tokens.
    ///
    /// The rejection of a token that may be made up does not count, nor does the rejection of a browser's subscription.
    private func isEvidence(_ recipient: Recipient, in environment: PushEnvironment) async -> Bool {
        if self.notification.isWeb { return false }
        guard self.isOfStranger(recipient) else { return true }
        let app = self.notification.record.app
        return await self.invalidation.hasReached(recipient.token, app: app, environment: environment)
    }

    /// A Boolean value that indicates whether this page has ended the notification of a request without a credential,
    /// because its only push, to an unregistered token, was rejected.
    private var isRefusedStranger: Bool {
        guard self.isOfStranger, case .tokens(let tokens) = self.notification.record.audience,
            tokens.count == 1, self.result.retries.isEmpty, self.result.deliveries.count == 1,
            let delivery = self.result.deliveries.first
        else { return false }
        return delivery.device == nil && delivery.state == .rejected
    }
}

private struct FaultyRecipients {
    private(set) var all: [(recipient: Recipient, outcome: Outcome, trip: PushTrip?)] = []
    /// The number of outcomes that prove each fault.
    private(set) var counts: [ConfigurationFault: Int] = [:]

    var isEmpty: Bool { self.all.isEmpty }

    /// The fault that the most outcomes prove, and the number of these outcomes, or `nil` if there is no fault.
    var commonest: (fault: ConfigurationFault, count: Int)? {
        self.counts.max { ($0.value, $1.key.detail) < ($1.value, $0.key.detail) }.map { ($0.key, $0.value) }
    }

    mutating func add(_ recipient: Recipient, _ outcome: Outcome, _ fault: ConfigurationFault, _ trip: PushTrip?) {
        self.all.append((recipient, outcome, trip))
        self.counts[fault, default: 0] += 1
    }
}
