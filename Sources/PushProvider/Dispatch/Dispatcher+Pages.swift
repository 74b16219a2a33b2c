import Logging
import ProviderModel
import PushStore
import PushSupport
import PushTypes

extension Dispatcher {
    /// Sends at most `pages` pages of a shard. It ends earlier when the shard is complete, a stop applies, or the time
    /// slice of the shard ends.
    func sendShard(_ held: TrackedClaim<ShardClaim>, pages: Int = .max, in slot: LaneSlots.Slot? = nil) async throws {
        defer { self.leases.end(held.fence, held.memory) }
        var claim = held.claim
        do {
            try await self.sendPages(&claim, held.memory, pages: pages, in: slot)
        } catch {
            // The shard is released now, because otherwise no claim would find it before its lease ends.
            _ = try await self.writer.write([self.released(claim, after: error)])
        }
    }

    private func sendPages(
        _ claim: inout ShardClaim,
        _ memory: ActiveClaim,
        pages: Int,
        in slot: LaneSlots.Slot?
    ) async throws {
        let notification = try await self.pages.prepare(
            claim.notification,
            number: claim.notificationNumber,
            zone: claim.zone
        )
        let hours = SendingHours(claim, notification)
        let needs = notification.needs(in: claim.zone)
        let service = DispatchTarget(claim.notification)
        let sliceEnds = self.time.steady.advanced(by: self.limits.timeSlice)
        var pagesLeft = pages
        while true {
            let clocks = self.time.reading
            let now = clocks.steady
            if let hold = self.hold(claim, notification, at: clocks) {
                _ = try await self.writer.write([hold])
                return
            }
            let opening = hours.opening(onOrAfter: clocks.wall)
            if opening > clocks.wall {
                _ = try await self.writer.write([self.released(claim, shardUntil: opening)])
                return
            }
            if memory.readAgain() {
                // There was a stop: the next claim reads the state again.
                _ = try await self.writer.write([self.released(claim)])
                return
            }
            let allowance = self.pacing.allowance(for: notification, now: now)
            if allowance.count <= 0 {
                _ = try await self.writer.write([self.released(claim, notificationUntil: allowance.next)])
                return
            }
            let page = try await self.store.page(
                claim,
                limit: min(allowance.count, notification.maximumPage),
                needs: needs
            )
            let work = hours.work(page, at: clocks)
            let unused = allowance.count - work.recipients.count
            self.pacing.release(unused, of: notification, now: self.time.steady)
            let wave = self.pacing.spend(work.recipients.count, of: notification, now: now)
            let until = now.advanced(by: self.limits.lease)
            let step = ShardStep(claim, cursor: page.cursor, isLast: page.isLast, leaseUntil: page.isLast ? nil : until)
            slot?.pageStarted()
            self.pages.metrics.noteStart(of: &claim, at: clocks)
            var sent = try await self.pages.send(
                work,
                of: notification,
                in: memory,
                fence: claim.fence,
                step: step,
                claimedAt: claim.claimedAt
            )
            let keepsSlot = slot?.pageEnded(sent.report) ?? true
            let delay = self.pacing.record(sent.report, of: service, now: self.time.steady)
            pagesLeft -= 1
            let isSliceOver = pagesLeft <= 0 || !keepsSlot || self.time.steady >= sliceEnds || self.isEnding
            // After a change of pauses, the next claim prepares the notification again.
            let isPaused = self.pages.pauses(of: claim.notification) != notification.pauses
            let isLast = page.isLast || delay > .zero || isSliceOver || isPaused
            if isLast { sent.result.step?.leaseUntil = nil }
            if delay > .zero { sent.result.nextPageAt = self.time.steady.advanced(by: delay) }
            sent.result.wave = wave
            let commit = try await self.writer.write([sent.result]).first ?? .stopped
            memory.landed()
            self.outcomes.signal(claim.notification.id)
            guard commit.isInProgress, !isLast else {
                let hasEnded = !commit.isInProgress || (page.isLast && claim.notification.pace != nil)
                if hasEnded { self.pacing.forget(claim.notification.id) }
                return
            }
            claim.cursor = page.cursor
        }
    }

    /// Returns the result that holds a shard back until its notification expires if a configuration fault prevents all
    /// of its pushes, or `nil` otherwise.
    private func hold(
        _ claim: ShardClaim,
        _ notification: PreparedNotification,
        at clocks: ClockReading
    ) -> PageResult? {
        let clocks = notification.record.clocksOfExpiry(clocks)
        // Recipients that expire one by one are examined every hour.
        let expires = notification.expiry.commonEnd ?? clocks.earlier.advanced(by: .seconds(3600))
        guard let holding = notification.holding, expires > clocks.earlier else { return nil }
        let until = notification.end(ofHold: expires, at: clocks).wall
        var result = self.released(claim, shardUntil: until)
        result.step?.heldFor = holding
        return result
    }

    private func released(
        _ claim: ShardClaim,
        shardUntil: Timestamp? = nil,
        notificationUntil: Timestamp? = nil
    ) -> PageResult {
        var result = PageResult(claim)
        result.step = ShardStep(claim, cursor: claim.cursor, isLast: false, leaseUntil: nil, notBefore: shardUntil)
        result.nextPageAt = notificationUntil
        return result
    }

    private func released(_ claim: ShardClaim, after error: any Error) -> PageResult {
        self.logFailure(error)
        var result = self.released(claim, notificationUntil: self.afterFailure)
        // A damaged row fails until an operator has repaired it.
        if let error = error as? DamagedRow { result.pauses = error.description }
        return result
    }

    /// Sends a page of an urgent notification.
    /// - Parameters:
    ///   - page: The page if it was read with the claim, or `nil` to read it from the store.
    ///   - hasWaited: `true` for a claim that has waited in memory. If it was stopped meanwhile, it is released.
    /// - Returns: `true` if recipients of the notification remain, and `false` if none remain.
    func sendUrgent(
        _ held: TrackedClaim<ShardClaim>,
        _ page: RecipientPage? = nil,
        hasWaited: Bool = false,
        in slot: LaneSlots.Slot? = nil
    ) async -> Bool {
        defer { self.leases.end(held.fence, held.memory) }
        let claim = held.claim
        do {
            let isStopped = held.memory.examineAgain()
            if hasWaited || isStopped, try await !self.store.maySend(claim) {
                try await self.store.release([claim])
                return true
            }
            let result = try await self.sendPage(held, isStopped ? nil : page, in: slot)
            let commit = await self.commit(result, of: claim.notification.app)
            self.outcomes.signal(claim.notification.id)
            return result.leavesWork || commit == .leaseLost
        } catch {
            await self.commit(self.released(claim, after: error), of: claim.notification.app)
            return true
        }
    }

    /// Writes the result of a page together with others, and repeats the write until it succeeds.
    @discardableResult
    private func commit(_ result: PageResult, of app: Int64) async -> CommitResult {
        do {
            let commit = try await self.direct.ledger.commit(result, of: app)
            self.writer.note([result], [commit])
            return commit
        } catch {
            return await self.batcher.commit(result)
        }
    }

    private func sendPage(
        _ held: TrackedClaim<ShardClaim>,
        _ known: RecipientPage?,
        in slot: LaneSlots.Slot?
    ) async throws -> PageResult {
        var claim = held.claim
        let notification = try await self.pages.prepare(
            claim.notification,
            number: claim.notificationNumber,
            zone: claim.zone
        )
        let clocks = self.time.reading
        if let hold = self.hold(claim, notification, at: clocks) { return hold }
        let hours = SendingHours(claim, notification)
        let opening = hours.opening(onOrAfter: clocks.wall)
        if opening > clocks.wall { return self.released(claim, shardUntil: opening) }
        let page = if let known { known } else { try await self.page(of: claim, notification) }
        let step = ShardStep(claim, cursor: page.cursor, isLast: page.isLast, leaseUntil: nil)
        let work = hours.work(page, at: clocks)
        slot?.pageStarted()
        self.pages.metrics.noteStart(of: &claim, at: clocks)
        let sent = try await self.pages.send(
            work,
            of: notification,
            in: held.memory,
            fence: claim.fence,
            step: step,
            claimedAt: claim.claimedAt
        )
        _ = slot?.pageEnded(sent.report)
        return sent.result
    }

    private func page(of claim: ShardClaim, _ notification: PreparedNotification) async throws -> RecipientPage {
        let limit = min(self.limits.page, notification.maximumPage)
        return try await self.store.page(claim, limit: limit, needs: notification.needs(in: claim.zone))
    }

    /// Sends the retries of the given claims concurrently. The result of each claim is written once it is complete.
    func retry(_ due: [TrackedClaim<RetryClaim>], in slot: LaneSlots.Slot? = nil) async {
        slot?.pageStarted()
        let report = await withTaskGroup(of: AdaptiveRateLimiter.Report.self) { group in
            for claim in due { group.addTask { await self.retryAndCommit(claim) } }
            return await group.reduce(into: AdaptiveRateLimiter.Report()) { $0.add($1) }
        }
        _ = slot?.pageEnded(report)
    }

    private func retryAndCommit(_ held: TrackedClaim<RetryClaim>) async -> AdaptiveRateLimiter.Report {
        defer { self.leases.end(held.fence, held.memory) }
        let claim = held.claim
        do {
            let sent = try await self.retry(claim, in: held.memory)
            let service = DispatchTarget(claim.notification)
            _ = self.pacing.record(sent.report, of: service, now: self.time.steady)
            await self.commit(sent.result, of: claim.notification.app)
            self.outcomes.signal(claim.notification.id)
            return sent.report
        } catch {
            await self.commit(self.released(claim, after: error), of: claim.notification.app)
            return AdaptiveRateLimiter.Report()
        }
    }

    /// Returns the result that makes the retries due again soon, unchanged. Recipients that only need a final state
    /// become due when the lease expires.
    private func released(_ claim: RetryClaim, after error: any Error) -> PageResult {
        self.logFailure(error)
        var result = PageResult(claim)
        let dueAt = self.afterFailure
        for case .due(let recipient) in claim.recipients {
            result.retries.append(RetryResult(recipient, dueAt: dueAt))
        }
        if let error = error as? DamagedRow { result.pauses = error.description }
        return result
    }

    private var afterFailure: Timestamp { self.time.steady.advanced(by: self.limits.writePause) }

    private func logFailure(_ error: any Error) {
        self.logger.error("sending failed, trying again soon", metadata: ["error": "\(error)"])
    }

    private func retry(_ claim: RetryClaim, in memory: ActiveClaim) async throws -> PageSender.Sent {
        let notification = try await self.pages.prepare(
            claim.notification,
            number: claim.notificationNumber,
            zone: nil,
            needsSenders: claim.recipients.contains { if case .due = $0 { true } else { false } }
        )
        let clocks = self.time.reading
        let work = PageWork(claim, of: notification, at: clocks)
        self.pages.metrics.noteRetry(claim, at: clocks)
        _ = self.pacing.spend(work.recipients.count, of: notification, now: clocks.steady)
        return try await self.pages.send(
            work,
            of: notification,
            in: memory,
            fence: claim.fence,
            step: nil,
            claimedAt: claim.claimedAt
        )
    }
}

extension PageResult {
    fileprivate var leavesWork: Bool { self.step?.isLast != true || !self.retries.isEmpty || !self.removed.isEmpty }
}
