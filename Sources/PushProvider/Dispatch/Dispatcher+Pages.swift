import Foundation
import Logging
import PushProtocol
import PushStore

extension Dispatcher {
    /// Both lanes, one page of retries and one of what was accepted in each; the deterministic way to work.
    /// - Returns: whether there was anything.
    package func step() async throws -> Bool {
        var hasWorked = false
        for lane in NotificationRecord.Lane.allCases {
            let due = try await self.dueRetries(lane)
            if !due.isEmpty { await self.retry(due) }
            let claims = try await self.claim(lane, limit: 1)
            switch lane {
            case .urgent: for claim in claims { await self.sendUrgent(claim) }
            case .bulk: for claim in claims { try await self.walk(claim, pages: 1) }
            }
            hasWorked = hasWorked || !due.isEmpty || !claims.isEmpty
        }
        return hasWorked
    }

    /// Sends a shard page by page, to its end, until something stops it, or until others have their turn.
    func walk(_ claim: ShardClaim, pages: Int = .max) async throws {
        var claim = claim
        do {
            try await self.walk(&claim, pages: pages)
        } catch {
            // Back to where it was, at once: nobody else would try before the lease ends.
            self.sayFailed(error)
            try await self.pause(claim, notificationUntil: self.afterFailure)
        }
    }

    private func walk(_ claim: inout ShardClaim, pages: Int) async throws {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let hours = SendingHours(claim, notification)
        let turnEnds = self.time.now.advanced(by: self.limits.turn)
        var pagesLeft = pages
        while true {
            let now = self.time.now
            let opening = hours?.opening(onOrAfter: now) ?? now
            if opening > now { return try await self.pause(claim, shardUntil: opening) }
            let allowance = self.pacing.allowance(for: claim.notification, app: notification.app, now: now)
            if allowance.count <= 0 { return try await self.pause(claim, notificationUntil: allowance.next) }
            let page = try await self.store.page(claim, limit: allowance.count, needs: notification.needs)
            let wave = self.pacing.spend(page.recipients.count, of: claim.notification, now: now)
            let until = now.advanced(by: self.limits.lease)
            let step = ShardStep(
                shard: claim.shard,
                cursor: page.cursor,
                isLast: page.isLast,
                leaseUntil: page.isLast ? nil : until
            )
            var sent = try await self.pages.send(page.recipients, of: notification, step: step)
            let delay = self.pacing.record(sent.report, app: claim.notification.app)
            pagesLeft -= 1
            let isTurnOver = pagesLeft <= 0 || self.time.now >= turnEnds || self.isEnding
            let stops = page.isLast || delay > .zero || isTurnOver
            if stops { sent.result.step?.leaseUntil = nil }
            if delay > .zero { sent.result.nextPageAt = self.time.now.advanced(by: delay) }
            sent.result.wave = wave
            let mayGoOn = try await self.writer.write([sent.result]).first ?? false
            guard mayGoOn, !stops else { return self.left(claim, page, mayGoOn: mayGoOn) }
            claim.cursor = page.cursor
        }
    }

    private func left(_ claim: ShardClaim, _ page: RecipientPage, mayGoOn: Bool) {
        if !mayGoOn || (page.isLast && claim.notification.pace != nil) {
            self.pacing.forget(claim.notification.id)
        }
    }

    /// Gives the shard back until then.
    private func pause(
        _ claim: ShardClaim,
        shardUntil: Timestamp? = nil,
        notificationUntil: Timestamp? = nil
    ) async throws {
        _ = try await self.writer.write([
            self.given(back: claim, shardUntil: shardUntil, notificationUntil: notificationUntil)
        ])
    }

    private func given(
        back claim: ShardClaim,
        shardUntil: Timestamp? = nil,
        notificationUntil: Timestamp? = nil
    ) -> PageResult {
        var result = PageResult(notificationNumber: claim.notificationNumber)
        result.step = ShardStep(
            shard: claim.shard,
            cursor: claim.cursor,
            isLast: false,
            leaseUntil: nil,
            notBefore: shardUntil
        )
        result.nextPageAt = notificationUntil
        return result
    }

    /// Sends a page of an urgent notification.
    func sendUrgent(_ claim: ShardClaim) async {
        do {
            await self.group.commit(try await self.sendPage(claim))
        } catch {
            self.sayFailed(error)
            await self.group.commit(self.given(back: claim, notificationUntil: self.afterFailure))
        }
    }

    private func sendPage(_ claim: ShardClaim) async throws -> PageResult {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let now = self.time.now
        if let opening = SendingHours(claim, notification)?.opening(onOrAfter: now), opening > now {
            return self.given(back: claim, shardUntil: opening)
        }
        let page = try await self.store.page(claim, limit: self.limits.page, needs: notification.needs)
        let step = ShardStep(shard: claim.shard, cursor: page.cursor, isLast: page.isLast, leaseUntil: nil)
        return try await self.pages.send(page.recipients, of: notification, step: step).result
    }

    /// Tries again what is due, all at the same time; each is written as it ends.
    func retry(_ due: [RetryClaim]) async {
        await withDiscardingTaskGroup { group in
            for claim in due {
                group.addTask {
                    do {
                        let sent = try await self.retry(claim)
                        _ = self.pacing.record(sent.report, app: claim.notification.app)
                        await self.group.commit(sent.result)
                    } catch {
                        self.sayFailed(error)
                        await self.group.commit(self.given(back: claim))
                    }
                }
            }
        }
    }

    /// Due again soon, as it was.
    private func given(back claim: RetryClaim) -> PageResult {
        var result = PageResult(notificationNumber: claim.notificationNumber)
        let dueAt = self.afterFailure
        result.retries = claim.recipients.map { recipient in
            switch recipient {
            case .gone(let id, let attempts): RetryResult(recipient: id, attempts: attempts, dueAt: dueAt)
            case .here(let recipient): Self.again(recipient, at: dueAt)
            }
        }
        return result
    }

    private static func again(_ recipient: Recipient, at dueAt: Timestamp) -> RetryResult {
        RetryResult(
            recipient: recipient.id,
            environment: recipient.movedFrom == nil ? nil : recipient.environment,
            attempts: recipient.attempts,
            dueAt: dueAt
        )
    }

    private var afterFailure: Timestamp { self.time.now.advanced(by: self.limits.writePause) }

    private func sayFailed(_ error: any Error) {
        self.logger.error("sending failed, trying again soon", metadata: ["error": "\(error)"])
    }

    private func retry(_ claim: RetryClaim) async throws -> PageSender.Sent {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        var recipients: [Recipient] = []
        var later: [RetryResult] = []
        var gone: [RetryRecipient] = []
        let now = self.time.now
        for recipient in claim.recipients {
            switch recipient {
            case .here(let recipient):
                let zone = recipient.profile?.timeZone.flatMap { TimeZone(named: $0) }
                let opening = notification.hours?.opening(onOrAfter: now, for: zone) ?? now
                guard opening > now else {
                    recipients.append(recipient)
                    continue
                }
                later.append(Self.again(recipient, at: opening))
            case .gone: gone.append(recipient)
            }
        }
        if !gone.isEmpty {
            let reason = "the device was removed before it could be sent"
            await self.group.commit(self.pages.end(gone, of: notification, reason: reason))
        }
        _ = self.pacing.spend(recipients.count, of: claim.notification, now: now)
        var sent = try await self.pages.send(recipients, of: notification, step: nil)
        sent.result.retries += later
        return sent
    }
}

/// The hours in which a shard may be sent, if its notification has some.
private struct SendingHours {
    private let delivery: DeliveryTime
    private let zone: TimeZone?

    init?(_ claim: ShardClaim, _ notification: PreparedNotification) {
        guard let hours = notification.hours else { return nil }
        self.delivery = hours
        self.zone = if case .named(let name) = claim.zone { TimeZone(named: name) } else { nil }
    }

    func opening(onOrAfter moment: Timestamp) -> Timestamp {
        self.delivery.opening(onOrAfter: moment, for: self.zone)
    }
}
