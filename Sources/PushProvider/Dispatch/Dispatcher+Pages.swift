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

    /// Sends a shard page by page, to its end or until something stops it.
    func walk(_ claim: ShardClaim, pages: Int = .max) async throws {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let hours = SendingHours(claim)
        var claim = claim
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
            let stops = page.isLast || delay > .zero || pagesLeft <= 0 || self.isEnding
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
        var result = PageResult(notificationNumber: claim.notificationNumber)
        result.step = ShardStep(
            shard: claim.shard,
            cursor: claim.cursor,
            isLast: false,
            leaseUntil: nil,
            notBefore: shardUntil
        )
        result.nextPageAt = notificationUntil
        _ = try await self.commit([result])
    }

    /// Sends a page of each claim, all at the same time, and writes them together.
    func sendUrgent(_ claims: [ShardClaim]) async throws {
        guard !claims.isEmpty else { return }
        let results = try await withThrowingTaskGroup(of: PageResult.self) { group in
            for claim in claims {
                group.addTask {
                    let notification = try await self.pages.prepare(
                        claim.notification,
                        number: claim.notificationNumber
                    )
                    let page = try await self.store.page(claim, limit: self.limits.page, needs: notification.needs)
                    let step = ShardStep(
                        shard: claim.shard,
                        cursor: page.cursor,
                        isLast: page.isLast,
                        leaseUntil: nil
                    )
                    return try await self.pages.send(page.recipients, of: notification, step: step).result
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        _ = try await self.commit(results)
    }

    /// Tries again what is due, all at the same time, and writes it together.
    func retry(_ due: [RetryClaim]) async throws {
        let sent = try await withThrowingTaskGroup(of: (PageSender.Sent, Int64).self) { group in
            for claim in due {
                group.addTask { (try await self.retry(claim), claim.notification.app) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for (sent, app) in sent { _ = self.pacing.record(sent.report, app: app) }
        _ = try await self.commit(sent.map(\.0.result))
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
