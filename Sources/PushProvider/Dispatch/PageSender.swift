import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTypes

/// Sends pages: renders the payloads, sends the pushes and evaluates their outcomes. The caller commits the result.
struct PageSender: Sendable {
    struct Sent: Sendable {
        var result: PageResult
        var report: AdaptiveRateLimiter.Report
    }

    let store: any AppStore & DispatchStore & UserStore & WebhookStore
    let caps: FrequencyCapCounter
    let directory: SenderDirectory
    /// The senders to browsers, or `nil` if nothing is sent to browsers.
    let web: WebPushSenderFactory?
    let invalidation: TokenInvalidationPolicy
    let faults: ConfigurationFaultTracker
    let policy: RetryPolicy
    let metrics: DispatchMetrics
    let events: WakeSignal
    let time: any TimeSource
    let decoder = NotificationDecoder()

    /// Reads the data that all pages of a notification share.
    /// - Parameters:
    ///   - zone: The time zone of the shard's devices, or `nil` for retries.
    ///   - needsSenders: `false` if only final states are written, which need no credential.
    func prepare(
        _ record: NotificationRecord,
        number: Int64,
        zone: ShardPlan.Zone?,
        needsSenders: Bool = true
    ) async throws -> PreparedNotification {
        let lane = record.lane == .urgent ? SenderLane.urgent : .bulk
        try await self.faults.load()
        return PreparedNotification(
            record,
            self.decoder.decode(record),
            number: number,
            zone: zone,
            app: try await self.store.app(id: record.app),
            senders: needsSenders ? try await self.senders(of: record, lane) : AppSenders(),
            // The pauses are read after the credentials: a pause of an older credential has ended by then.
            pauses: self.pauses(of: record),
            reportsDeliveries: try await self.store.wants(.delivery, app: record.app)
        )
    }

    private func senders(of record: NotificationRecord, _ lane: SenderLane) async throws -> AppSenders {
        guard !record.content.isWeb else { return self.web?.senders(app: record.app) ?? AppSenders() }
        return try await self.directory.senders(app: record.app, lane: lane, at: self.time.now)
    }

    /// Returns the pauses that hold a notification back. Pauses of Apple's environments do not affect browsers.
    func pauses(of record: NotificationRecord) -> [PushEnvironment: EnvironmentPause] {
        record.content.isWeb ? [:] : self.faults.pauses(of: record.app)
    }

    /// Sends one page and waits for the outcomes of all its pushes.
    /// - Parameters:
    ///   - memory: The in-memory state of the claim, through which stops reach the page.
    ///   - fence: The fencing number of the claim's lease.
    ///   - step: The position in the shard after this page, or `nil` for retries. With the guarantee at most once, it
    ///     is written before the page is sent.
    ///   - claimedAt: The time of the claim, by the later clock.
    func send(
        _ work: PageWork,
        of notification: PreparedNotification,
        in memory: ActiveClaim,
        fence: Int64,
        step: ShardStep?,
        claimedAt: Timestamp?
    ) async throws -> Sent {
        self.metrics.pageStarted(notification.record.lane)
        defer { self.metrics.pageEnded(notification.record.lane) }
        var step = step
        let sentAt = self.time.reading
        var work = work
        let clocksOfExpiry = notification.record.clocksOfExpiry(sentAt)
        work.postponeDisputed(notification.expiry, at: clocksOfExpiry)
        try await self.caps.reserve(&work, of: notification, at: clocksOfExpiry)
        let badges = try await self.badges(of: work.recipients, notification, at: clocksOfExpiry)
        var draft = PageDraft(
            work.recipients,
            of: notification,
            badges: badges,
            isRetry: step == nil,
            at: clocksOfExpiry
        )
        work.postponed += draft.held
        var (postponed, ended) = (work.postponed, work.ended)
        let beginsFirst = notification.record.guarantee == .atMostOnce
        if beginsFirst {
            let page = try await self.begin(
                draft,
                work,
                of: notification,
                fence: fence,
                step: step,
                claimedAt: claimedAt
            )
            draft.keep(page.started)
            work.skipped.removeAll { !page.started.contains($0.recipient.id) }
            if step != nil { ended.removeAll { !page.started.contains($0.id) } }
            // The postponed recipients were written together with the step.
            postponed = []
            if let cursor = step?.cursor { step?.from = cursor }
            if !page.result.isInProgress { postponed = self.postponeAll(&draft) }
        }
        let stopped = memory.takeOff(&draft)
        var sent = await self.send(draft.batches, in: memory)
        // Stopped pushes become retries, about which the store decides when they are due.
        let dueAt = self.time.steady
        postponed += stopped.map { RetryResult($0, dueAt: dueAt) }
        postponed += draft.takeBack(memory.recalled, &sent).map { RetryResult($0, dueAt: dueAt) }
        var evaluator = OutcomeEvaluator(
            notification,
            invalidation: self.invalidation,
            faults: self.faults,
            policy: self.policy,
            sentAt: sentAt,
            clocks: self.time.reading
        )
        for retry in ended { evaluator.end(retry, isWritten: beginsFirst && step != nil) }
        for (recipient, reason) in work.skipped { evaluator.skip(recipient, reason, isWritten: beginsFirst) }
        for (recipient, reason) in draft.failures { evaluator.fail(recipient, reason: reason) }
        for recipient in draft.abandoned { evaluator.abandon(recipient, .unsendable) }
        for (environment, fault) in draft.faults { await evaluator.pause(environment, fault) }
        for (batch, sent) in zip(draft.batches, sent) { await evaluator.add(batch, sent) }
        self.metrics.count(evaluator.tally, of: notification)
        var result = evaluator.finished
        result.retries += postponed
        result.fence = fence
        result.snapshot = work.snapshot
        result.step = step
        if !result.deliveries.isEmpty || !result.removed.isEmpty
            || result.retries.contains(where: { $0.attempt != nil })
        {
            result.times = evaluator.times(claimedAt: claimedAt)
        }
        return Sent(result: result, report: evaluator.report)
    }

    private func send(_ batches: [PageDraft.PushBatch], in memory: ActiveClaim) async -> [SentPushes] {
        @Sendable func send(_ index: Int) async -> SentPushes {
            await batches[index].sender.follow(batches[index].pushes) { memory.began(index, $0) }
        }
        if batches.count == 1 { return [await send(0)] }
        return await withTaskGroup(of: (Int, SentPushes).self) { group in
            for index in batches.indices { group.addTask { (index, await send(index)) } }
            var sent = Array(repeating: SentPushes(outcomes: []), count: batches.count)
            for await (index, ofBatch) in group { sent[index] = ofBatch }
            return sent
        }
    }

    /// Increments the badge counts of the recipients to which pushes are sent now, and returns the new counts.
    private func badges(
        of recipients: [Recipient],
        _ notification: PreparedNotification,
        at clocks: ClockReading
    ) async throws -> [BytewiseString: Int] {
        guard let change = notification.decoded.renderer?.badge else { return [:] }
        let now = clocks.earlier
        return try await self.store.changeBadges(
            by: change.increment,
            notification: notification.number,
            app: notification.record.app,
            holders: recipients.compactMap { notification.isSent($0, at: now) ? BadgeHolder.recipient($0) : nil }
        )
    }

    /// Records in the ledger, before pushes with the guarantee at most once are sent, that they are being sent.
    ///
    /// Recipients whose pushes could not be created are recorded too, so that the second commit gives each its final
    /// state and reports it to webhooks. Skipped and ended recipients get their final state now, so that it is not
    /// unknown after a crash.
    /// - Returns: The state of the notification after the commit, and the recipients that no other page has begun.
    private func begin(
        _ draft: PageDraft,
        _ work: PageWork,
        of notification: PreparedNotification,
        fence: Int64,
        step: ShardStep?,
        claimedAt: Timestamp?
    ) async throws -> StartedPage {
        let now = self.time.recorded
        var result = PageResult(notificationNumber: notification.number, fence: fence)
        result.step = step
        result.snapshot = work.snapshot
        result.retries = work.postponed
        result.times = PageTimes(claimedAt: claimedAt, sentAt: now, answeredAt: now)
        result.endings = work.skipped.map { recipient, reason in
            notification.reported(notification.skipped(recipient, reason, at: now), of: recipient)
        }
        if step != nil {
            // Retries stay in their queue until the second commit.
            result.endings += work.ended.map {
                notification.reported(notification.ended($0, at: now), of: $0.recipient)
            }
        }
        result.deliveries = draft.recipients.map { recipient in
            DeliveryResult(
                recipient: recipient.id,
                device: recipient.device,
                state: .sending,
                attempts: recipient.attempts + 1,
                at: now
            )
        }
        let page = try await self.store.begin(result, now: now)
        if result.endings.contains(where: { $0.event != nil }) { self.events.signal() }
        return page
    }

    /// Empties a page that was begun before its notification was paused or cancelled. Its recipients become retries.
    private func postponeAll(_ draft: inout PageDraft) -> [RetryResult] {
        let now = self.time.steady
        let postponed = draft.recipients.map { RetryResult($0, dueAt: now) }
        draft.keep([])
        return postponed
    }
}
