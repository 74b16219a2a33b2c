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
            if !due.isEmpty { try await self.retry(due) }
            let claims = try await self.claim(lane, limit: 1)
            switch lane {
            case .urgent: try await self.sendUrgent(claims)
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
        let hours = SendingHours(claim)
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
            let mayGoOn = try await self.commit([sent.result]).first ?? false
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
        _ = try await self.commit([
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

    /// Sends a page of each claim, all at the same time, and writes them together.
    func sendUrgent(_ claims: [ShardClaim]) async throws {
        guard !claims.isEmpty else { return }
        let results = await withTaskGroup(of: PageResult.self) { group in
            for claim in claims {
                group.addTask {
                    do {
                        return try await self.sendPage(claim)
                    } catch {
                        self.sayFailed(error)
                        return self.given(back: claim, notificationUntil: self.afterFailure)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        _ = try await self.commit(results)
    }

    private func sendPage(_ claim: ShardClaim) async throws -> PageResult {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let page = try await self.store.page(claim, limit: self.limits.page, needs: notification.needs)
        let step = ShardStep(shard: claim.shard, cursor: page.cursor, isLast: page.isLast, leaseUntil: nil)
        return try await self.pages.send(page.recipients, of: notification, step: step).result
    }

    /// Tries again what is due, all at the same time, and writes it together.
    func retry(_ due: [RetryClaim]) async throws {
        let results = await withTaskGroup(of: PageResult.self) { group in
            for claim in due {
                group.addTask {
                    do {
                        let sent = try await self.retry(claim)
                        _ = self.pacing.record(sent.report, app: claim.notification.app)
                        return sent.result
                    } catch {
                        self.sayFailed(error)
                        return self.given(back: claim)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        _ = try await self.commit(results)
    }

    /// Due again soon, as it was.
    private func given(back claim: RetryClaim) -> PageResult {
        var result = PageResult(notificationNumber: claim.notificationNumber)
        let dueAt = self.afterFailure
        result.retries = claim.recipients.map { recipient in
            switch recipient {
            case .gone(let id, let attempts): RetryResult(recipient: id, attempts: attempts, dueAt: dueAt)
            case .here(let recipient):
                RetryResult(
                    recipient: recipient.id,
                    environment: recipient.movedFrom == nil ? nil : recipient.environment,
                    attempts: recipient.attempts,
                    dueAt: dueAt
                )
            }
        }
        return result
    }

    private var afterFailure: Timestamp { self.time.now.advanced(by: self.limits.writePause) }

    private func sayFailed(_ error: any Error) {
        self.logger.error("sending failed, trying again soon", metadata: ["error": "\(error)"])
    }

    private func retry(_ claim: RetryClaim) async throws -> PageSender.Sent {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        var recipients: [Recipient] = []
        var gone: [DeliveryResult] = []
        for recipient in claim.recipients {
            switch recipient {
            case .here(let recipient): recipients.append(recipient)
            case .gone(let id, let attempts):
                gone.append(
                    DeliveryResult(
                        recipient: id,
                        device: nil,
                        state: .failed,
                        reason: "the device was removed before it could be sent",
                        attempts: attempts,
                        at: self.time.now
                    )
                )
            }
        }
        var sent = try await self.pages.send(recipients, of: notification, step: nil)
        sent.result.deliveries += gone
        return sent
    }

    /// Writes what was sent. While nothing can be written, it waits: to forget it would be to send it again.
    private func commit(_ results: [PageResult]) async throws -> [Bool] {
        var hasSaidSo = false
        while true {
            do {
                return try await self.store.commit(results, now: self.time.now)
            } catch let error as StoreError {
                if !hasSaidSo {
                    hasSaidSo = true
                    self.logger.error(
                        "what was sent cannot be written, trying until it can",
                        metadata: ["error": "\(error)"]
                    )
                }
                guard !self.isEnding else { throw error }
                try await Task.sleep(for: self.limits.writePause)
            }
        }
    }
}

/// The hours in which a shard may be sent, if its notification has some.
private struct SendingHours {
    private let delivery: DeliveryTime
    private let zone: TimeZone?

    init?(_ claim: ShardClaim) {
        guard let stored = claim.notification.delivery, let json = try? JSONValue(parsing: stored),
            let delivery = try? DeliveryTime(stored: json), delivery.window != nil
        else { return nil }
        self.delivery = delivery
        self.zone = if case .named(let name) = claim.zone { TimeZone(named: name) } else { nil }
    }

    func opening(onOrAfter moment: Timestamp) -> Timestamp {
        self.delivery.opening(onOrAfter: moment, for: self.zone)
    }
}
