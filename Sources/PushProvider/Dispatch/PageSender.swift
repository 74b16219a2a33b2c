import Logging
import PushSender
import PushStore
import PushSupport

/// Sends pages: renders, sends, judges. What it comes to is for the caller to commit.
struct PageSender: Sendable {
    /// What a page came to.
    struct Sent: Sendable {
        var result: PageResult
        var report: AdaptiveRateLimiter.Report
    }

    let store: any ProviderStore
    let directory: SenderDirectory
    let hygiene: TokenInvalidationPolicy
    let policy: RetryPolicy
    let time: any TimeSource

    /// - Parameter isToBeSent: whether there is more to do than to write final states, for which no credential is needed.
    func prepare(
        _ record: NotificationRecord,
        number: Int64,
        isToBeSent: Bool = true
    ) async throws -> PreparedNotification {
        let lane = record.lane == .urgent ? SenderLane.urgent : .bulk
        return PreparedNotification(
            record,
            number: number,
            app: try await self.store.app(id: record.app),
            senders: isToBeSent ? try await self.directory.senders(app: record.app, lane: lane) : ([:], [:]),
            tellsDeliveries: try await self.store.wants(.delivery, app: record.app)
        )
    }

    /// - Parameters:
    ///   - fence: the fencing number of the claim's lease.
    ///   - step: where the walk stands after this page; `nil` for retries. At-most-once writes it first.
    func send(
        _ work: PageWork,
        of notification: PreparedNotification,
        fence: Int64,
        step: ShardStep?
    ) async throws -> Sent {
        var step = step
        let sentAt = self.time.reading
        var work = work
        let clocksOfExpiry = notification.record.clocksOfExpiry(sentAt)
        work.holdBack(notification.expires, at: clocksOfExpiry)
        let badges = try await self.badges(of: work.recipients, notification)
        var draft = PageDraft(work.recipients, of: notification, badges: badges, now: clocksOfExpiry.earlier)
        var (later, over) = (work.later, work.over)
        if notification.record.guarantee == .atMostOnce {
            let page = try await self.begin(draft, work, of: notification, fence: fence, step: step)
            draft.keep(page.begun)
            if step != nil { over.removeAll { !page.begun.contains($0.id) } }
            // They were written together with the step.
            later = []
            if let cursor = step?.cursor { step?.from = cursor }
            if !page.answer.mayGoOn { later = self.postponed(&draft) }
        }
        let outcomes = await self.outcomes(of: draft.lots)
        var judge = OutcomeEvaluator(
            notification,
            hygiene: self.hygiene,
            policy: self.policy,
            sentAt: sentAt,
            clocks: self.time.reading
        )
        for retry in over { judge.end(retry) }
        for (recipient, reason) in draft.failures { judge.fail(recipient, reason: reason) }
        for (lot, outcomes) in zip(draft.lots, outcomes) { await judge.add(lot, outcomes) }
        var result = judge.finished
        result.retries += later
        result.fence = fence
        result.reading = work.reading
        result.step = step
        return Sent(result: result, report: judge.report)
    }

    private func outcomes(of lots: [PageDraft.PushBatch]) async -> [[Outcome]] {
        if lots.count == 1 { return [await lots[0].sender.send(lots[0].pushes)] }
        return await withTaskGroup(of: (Int, [Outcome]).self) { group in
            for (index, lot) in lots.enumerated() {
                group.addTask { (index, await lot.sender.send(lot.pushes)) }
            }
            var outcomes: [[Outcome]] = Array(repeating: [], count: lots.count)
            for await (index, ofLot) in group { outcomes[index] = ofLot }
            return outcomes
        }
    }

    private func badges(
        of recipients: [Recipient],
        _ notification: PreparedNotification
    ) async throws -> [String: Int] {
        guard let change = notification.renderer?.badge else { return [:] }
        return try await self.store.changeBadges(
            by: change.increment,
            notification: notification.number,
            app: notification.record.app,
            holders: recipients.map(\.badgeHolder)
        )
    }

    /// At most once: that these are being sent is on disk before they are; of those that cannot be too, so that each has
    /// its final state from the second commit, which tells of it. Whether the notification may go on, and who was not
    /// begun by anybody else.
    private func begin(
        _ draft: PageDraft,
        _ work: PageWork,
        of notification: PreparedNotification,
        fence: Int64,
        step: ShardStep?
    ) async throws -> StartedPage {
        let now = self.time.recorded
        var result = PageResult(notificationNumber: notification.number, fence: fence)
        result.step = step
        result.reading = work.reading
        result.retries = work.later
        result.deliveries = draft.recipients.map { recipient in
            DeliveryResult(
                recipient: recipient.id,
                device: recipient.device,
                state: .sending,
                attempts: recipient.attempts + 1,
                at: now
            )
        }
        // Those of the queue stay in it until the second commit.
        for retry in work.over where step != nil {
            result.deliveries.append(
                DeliveryResult(recipient: retry.id, device: nil, state: .sending, attempts: retry.attempts, at: now)
            )
        }
        return try await self.store.begin(result, now: now)
    }

    /// Begun, but the notification was stopped meanwhile: they wait in the queue for what becomes of it.
    private func postponed(_ draft: inout PageDraft) -> [RetryResult] {
        let now = self.time.steady
        let postponed = draft.recipients.map { RetryResult($0, dueAt: now) }
        draft.keep([])
        return postponed
    }
}
