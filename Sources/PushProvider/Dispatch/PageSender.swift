import Logging
import PushProtocol
import PushSender
import PushStore

/// Sends pages: renders, sends, judges. What it comes to is for the caller to commit.
struct PageSender: Sendable {
    /// What a page came to.
    struct Sent: Sendable {
        var result: PageResult
        var report: BackoffMachine.Report
    }

    let store: any PushStore
    let directory: SenderDirectory
    let hygiene: TokenHygiene
    let policy: RetryPolicy
    let time: any TimeSource

    func prepare(_ record: NotificationRecord, number: Int64) async throws -> PreparedNotification {
        PreparedNotification(
            record,
            number: number,
            app: try await self.store.app(id: record.app),
            senders: try await self.directory.senders(
                app: record.app,
                lane: record.lane == .urgent ? .urgent : .bulk
            ),
            tellsDeliveries: try await self.store.wants(.delivery, app: record.app)
        )
    }

    /// To be ended only, for which no credential is needed.
    func prepareToEnd(_ record: NotificationRecord, number: Int64) async throws -> PreparedNotification {
        PreparedNotification(
            record,
            number: number,
            app: nil,
            senders: ([:], [:]),
            tellsDeliveries: try await self.store.wants(.delivery, app: record.app)
        )
    }

    /// - Parameter step: where the walk stands after this page; `nil` for retries. At-most-once writes it first.
    func send(
        _ recipients: [Recipient],
        of notification: PreparedNotification,
        step: ShardStep?
    ) async throws -> Sent {
        let badges = try await self.badges(of: recipients, notification)
        let sentAt = self.time.now
        var draft = PageDraft(recipients, of: notification, badges: badges, now: sentAt)
        let isOnce = notification.record.guarantee == .atMostOnce
        if isOnce {
            let (mayGoOn, begun) = try await self.begin(draft, of: notification, step: step)
            draft.keep(begun)
            guard mayGoOn else {
                return Sent(result: self.postponed(draft, of: notification, step: step), report: .init())
            }
        }
        let outcomes = await self.outcomes(of: draft.lots)
        var judge = PageJudge(
            notification,
            hygiene: self.hygiene,
            policy: self.policy,
            sentAt: sentAt,
            now: self.time.now,
            isRetry: step == nil
        )
        for (recipient, reason) in draft.failures { judge.fail(recipient, reason: reason) }
        for (lot, outcomes) in zip(draft.lots, outcomes) { await judge.add(lot, outcomes) }
        var result = judge.finished
        result.step = step
        return Sent(result: result, report: judge.report)
    }

    /// Ends recipients that cannot be sent to any more.
    func end(_ recipients: [RetryRecipient], of notification: PreparedNotification, reason: String) -> PageResult {
        let now = self.time.now
        var judge = PageJudge(
            notification,
            hygiene: self.hygiene,
            policy: self.policy,
            sentAt: now,
            now: now,
            isRetry: true
        )
        for recipient in recipients { judge.end(recipient, reason: reason) }
        return judge.finished
    }

    private func outcomes(of lots: [PageDraft.Lot]) async -> [[Outcome]] {
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

    /// At most once: that these are being sent is on disk before they are. Whether the notification may go on, and who
    /// was not begun by anybody else.
    private func begin(
        _ draft: PageDraft,
        of notification: PreparedNotification,
        step: ShardStep?
    ) async throws -> (mayGoOn: Bool, begun: Set<Int64>) {
        let now = self.time.now
        var result = PageResult(notificationNumber: notification.number)
        result.step = step
        result.deliveries = draft.lots.flatMap(\.recipients).map { recipient in
            DeliveryResult(
                recipient: recipient.id,
                device: recipient.device,
                state: .sending,
                attempts: recipient.attempts + 1,
                at: now
            )
        }
        for (recipient, reason) in draft.failures {
            result.deliveries.append(
                DeliveryResult(
                    recipient: recipient.id,
                    device: recipient.device,
                    state: .failed,
                    reason: reason,
                    attempts: recipient.attempts,
                    at: now
                )
            )
        }
        return try await self.store.begin(result, now: now)
    }

    /// Begun, but the notification was stopped meanwhile: they wait in the queue for what becomes of it.
    private func postponed(
        _ draft: PageDraft,
        of notification: PreparedNotification,
        step: ShardStep?
    ) -> PageResult {
        var result = PageResult(notificationNumber: notification.number)
        result.step = step
        result.step?.leaseUntil = nil
        let now = self.time.now
        result.retries = draft.lots.flatMap(\.recipients).map { recipient in
            let environment = recipient.movedFrom == nil ? nil : recipient.environment
            return RetryResult(
                recipient: recipient.id,
                environment: environment,
                attempts: recipient.attempts,
                dueAt: now
            )
        }
        return result
    }
}
