import Foundation
import Logging
import PushStore
import PushSupport
import PushTypes

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
    func walk(_ claim: ShardClaim, pages: Int = .max, in place: LaneSlots.Place? = nil) async throws {
        defer { self.held.end(claim.fence) }
        var claim = claim
        do {
            try await self.walk(&claim, pages: pages, in: place)
        } catch {
            // Back to where it was, at once: no claim would find it before the lease ends.
            _ = try await self.writer.write([self.given(back: claim, after: error)])
        }
    }

    private func walk(_ claim: inout ShardClaim, pages: Int, in place: LaneSlots.Place?) async throws {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let hours = SendingHours(claim, notification)
        let needs = notification.needs(in: claim.zone)
        let service = DispatchTarget(claim.notification)
        let turnEnds = self.time.steady.advanced(by: self.limits.turn)
        var pagesLeft = pages
        while true {
            let clocks = self.time.reading
            let now = clocks.steady
            let opening = hours.opening(onOrAfter: clocks.wall)
            if opening > clocks.wall { return try await self.pause(claim, shardUntil: opening) }
            let allowance = self.pacing.allowance(for: claim.notification, app: notification.app, now: now)
            if allowance.count <= 0 { return try await self.pause(claim, notificationUntil: allowance.next) }
            let page = try await self.store.page(claim, limit: allowance.count, needs: needs)
            let work = hours.work(page, at: clocks)
            let unused = allowance.count - work.recipients.count
            self.pacing.giveBack(unused, app: notification.app, now: self.time.steady)
            let wave = self.pacing.spend(work.recipients.count, of: claim.notification, now: now)
            let until = now.advanced(by: self.limits.lease)
            let step = ShardStep(
                claim,
                cursor: page.cursor,
                isLast: page.isLast,
                leaseUntil: page.isLast ? nil : until
            )
            place?.pageBegins()
            var sent = try await self.pages.send(work, of: notification, fence: claim.fence, step: step)
            let keepsPlace = place?.pageEnds(sent.report) ?? true
            let delay = self.pacing.record(sent.report, of: service, now: self.time.steady)
            pagesLeft -= 1
            let isTurnOver = pagesLeft <= 0 || !keepsPlace || self.time.steady >= turnEnds || self.isEnding
            let stops = page.isLast || delay > .zero || isTurnOver
            if stops { sent.result.step?.leaseUntil = nil }
            if delay > .zero { sent.result.nextPageAt = self.time.steady.advanced(by: delay) }
            sent.result.wave = wave
            let answer = try await self.writer.write([sent.result]).first ?? .stops
            guard answer.mayGoOn, !stops else { return self.left(claim, page, mayGoOn: answer.mayGoOn) }
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
        var result = PageResult(claim)
        result.step = ShardStep(
            claim,
            cursor: claim.cursor,
            isLast: false,
            leaseUntil: nil,
            notBefore: shardUntil
        )
        result.nextPageAt = notificationUntil
        return result
    }

    private func given(back claim: ShardClaim, after error: any Error) -> PageResult {
        self.sayFailed(error)
        var result = self.given(back: claim, notificationUntil: self.afterFailure)
        // It would fail until an operator has mended it.
        if let error = error as? DamagedRow { result.pauses = error.description }
        return result
    }

    /// Sends a page of an urgent notification.
    func sendUrgent(_ claim: ShardClaim, in place: LaneSlots.Place? = nil) async {
        defer { self.held.end(claim.fence) }
        do {
            await self.group.commit(try await self.sendPage(claim, in: place))
        } catch {
            await self.group.commit(self.given(back: claim, after: error))
        }
    }

    private func sendPage(_ claim: ShardClaim, in place: LaneSlots.Place?) async throws -> PageResult {
        let notification = try await self.pages.prepare(claim.notification, number: claim.notificationNumber)
        let clocks = self.time.reading
        let hours = SendingHours(claim, notification)
        let opening = hours.opening(onOrAfter: clocks.wall)
        if opening > clocks.wall { return self.given(back: claim, shardUntil: opening) }
        let needs = notification.needs(in: claim.zone)
        let page = try await self.store.page(claim, limit: self.limits.page, needs: needs)
        let step = ShardStep(claim, cursor: page.cursor, isLast: page.isLast, leaseUntil: nil)
        let work = hours.work(page, at: clocks)
        place?.pageBegins()
        let sent = try await self.pages.send(work, of: notification, fence: claim.fence, step: step)
        _ = place?.pageEnds(sent.report)
        return sent.result
    }

    /// Tries again what is due, all at the same time; each is written as it ends.
    func retry(_ due: [RetryClaim], in place: LaneSlots.Place? = nil) async {
        place?.pageBegins()
        let report = await withTaskGroup(of: AdaptiveRateLimiter.Report.self) { group in
            for claim in due { group.addTask { await self.retryAndCommit(claim) } }
            return await group.reduce(into: AdaptiveRateLimiter.Report()) { $0.add($1) }
        }
        _ = place?.pageEnds(report)
    }

    private func retryAndCommit(_ claim: RetryClaim) async -> AdaptiveRateLimiter.Report {
        defer { self.held.end(claim.fence) }
        do {
            let sent = try await self.retry(claim)
            let service = DispatchTarget(claim.notification)
            _ = self.pacing.record(sent.report, of: service, now: self.time.steady)
            await self.group.commit(sent.result)
            return sent.report
        } catch {
            await self.group.commit(self.given(back: claim, after: error))
            return AdaptiveRateLimiter.Report()
        }
    }

    /// Due again soon, as it was. Who is only to be ended comes back when the lease ends.
    private func given(back claim: RetryClaim, after error: any Error) -> PageResult {
        self.sayFailed(error)
        var result = PageResult(claim)
        let dueAt = self.afterFailure
        for case .here(let recipient) in claim.recipients {
            result.retries.append(RetryResult(recipient, dueAt: dueAt))
        }
        if let error = error as? DamagedRow { result.pauses = error.description }
        return result
    }

    private var afterFailure: Timestamp { self.time.steady.advanced(by: self.limits.writePause) }

    private func sayFailed(_ error: any Error) {
        self.logger.error("sending failed, trying again soon", metadata: ["error": "\(error)"])
    }

    private func retry(_ claim: RetryClaim) async throws -> PageSender.Sent {
        let notification = try await self.pages.prepare(
            claim.notification,
            number: claim.notificationNumber,
            isToBeSent: claim.recipients.contains { if case .here = $0 { true } else { false } }
        )
        let clocks = self.time.reading
        let work = PageWork(claim, hours: notification.hours, at: clocks)
        _ = self.pacing.spend(work.recipients.count, of: claim.notification, now: clocks.steady)
        return try await self.pages.send(work, of: notification, fence: claim.fence, step: nil)
    }
}
