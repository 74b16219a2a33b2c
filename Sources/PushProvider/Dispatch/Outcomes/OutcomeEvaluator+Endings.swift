import PushStore
import PushTypes

/// The recipients of a page that no push goes to.
extension OutcomeEvaluator {
    /// Adds the final state of a recipient that is not tried, or not again.
    /// - Parameter isWritten: `true` if its state is in the ledger since the page was begun.
    mutating func end(_ retry: EndedRetry, isWritten: Bool) {
        if let result = DeliveryTally.Result(retry.state) {
            self.tally.add(result, .ended(retry.cause), in: retry.recipient?.environment)
        }
        guard !isWritten else { return }
        let delivery = self.notification.ended(retry, at: self.now)
        guard retry.cause == .deviceRemoved else { return self.finish(delivery, of: retry.recipient) }
        self.result.removed.append(self.notification.reported(delivery, of: retry.recipient))
    }

    /// Adds a recipient that could not be sent to.
    mutating func fail(_ recipient: Recipient, reason: String) {
        self.finish(recipient, recipient.failure, reason: reason, attempts: recipient.attempts)
        self.report.rejected += 1
        self.tally.add(.init(recipient.failure) ?? .failed, .unsendable, in: recipient.environment)
    }

    /// Adds a recipient that does not want the notification, or not now.
    /// - Parameter isWritten: `true` if its state is in the ledger since the page was begun.
    mutating func skip(_ recipient: Recipient, _ reason: SkipReason, isWritten: Bool) {
        let delivery = self.notification.skipped(recipient, reason, at: self.now)
        self.tally.add(.init(delivery.state) ?? .skipped, .skipped(reason), in: recipient.environment)
        if !isWritten { self.finish(delivery, of: recipient) }
    }

    /// Ends a recipient whose token is bad in its own environment, and cannot be tried in the other one now.
    mutating func abandon(_ recipient: Recipient, _ tried: DeliveryTally.Reason) {
        self.tally.add(.rejected, tried, in: recipient.environment)
        let reason = Reason.badDeviceToken.rawValue
        if self.notification.hasTopicOfTokens { self.addChange(of: recipient, .suspected, reason: reason) }
        self.finish(recipient, .rejected, reason: reason, attempts: recipient.attempts + 1)
    }
}

extension PreparedNotification {
    /// Returns the final state of a recipient that is not tried, or not again.
    func ended(_ retry: EndedRetry, at now: Timestamp) -> DeliveryResult {
        DeliveryResult(
            recipient: retry.id,
            device: retry.recipient?.device ?? (retry.id > 0 ? retry.id : nil),
            state: retry.state,
            reason: retry.cause.rawValue,
            attempts: retry.attempts,
            at: now
        )
    }

    /// Returns the final state of a recipient that does not want the notification, or not now.
    ///
    /// An earlier try whose response was lost may have arrived all the same.
    func skipped(_ recipient: Recipient, _ reason: SkipReason, at now: Timestamp) -> DeliveryResult {
        DeliveryResult(
            recipient: recipient.id,
            device: recipient.device,
            state: .skipped.ending(mayHaveArrived: recipient.mayHaveArrived),
            reason: reason.text(category: self.record.consent.category),
            attempts: recipient.attempts,
            at: now
        )
    }

    /// Returns a final state with its event for webhooks, which is written only if the state is.
    func reported(_ delivery: DeliveryResult, of recipient: Recipient?) -> ReportedDelivery {
        var events = WebhookEventEncoder()
        if self.reportsDeliveries { self.append(delivery, of: recipient, to: &events) }
        return ReportedDelivery(delivery, event: events.isEmpty ? nil : events.data)
    }
}
