package import Logging
import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Sends accepted notifications.
///
/// It claims shards (parts of notifications), sends them page by page, writes each page's results in one transaction,
/// and sends retries when they are due. Each lane has its own slots, connections and retries.
package struct Dispatcher: Service {
    let store: any AppStore & DispatchStore & UserStore & WebhookStore
    let pages: PageSender
    let pacing: PacingController
    private let wakes: LaneWakeSignals
    let outcomes: OutcomeSignals
    let limits: DispatchLimits
    let time: any TimeSource
    let logger: Logger
    let writer: ResultWriter
    /// Writes the results whose first write has failed, several in one transaction.
    let batcher: WriteBatcher<PageResult, CommitResult>
    let direct: DirectDispatch
    var leases: HeldLeases { self.direct.ledger.leases }

    /// Creates a dispatcher.
    /// - Parameters:
    ///   - web: The senders to browsers, or `nil` if nothing is sent to browsers.
    ///   - outcomes: The signals that are sent when outcomes of a notification are on disk.
    ///   - events: The signal that is sent when events for webhooks are on disk.
    ///   - downloads: Returns the figures of an app's downloads, for which waves may wait, or `nil` if they are not
    ///     known.
    ///   - waits: The registry of the waves that wait for downloads.
    ///   - nodes: Returns the number of nodes that share the store. By default, there is one.
    ///   - direct: The direct dispatch of accepted notifications, or `nil` if all are found in the store.
    package init(
        store: any AppStore & DispatchStore & UserStore & WebhookStore,
        directory: SenderDirectory,
        web: WebPushSenderFactory? = nil,
        invalidation: TokenInvalidationPolicy,
        faults: ConfigurationFaultTracker,
        wakes: LaneWakeSignals,
        outcomes: OutcomeSignals = OutcomeSignals(),
        events: WakeSignal = WakeSignal(),
        limits: DispatchLimits = DispatchLimits(),
        policy: RetryPolicy = RetryPolicy(),
        metrics: DispatchMetrics = DispatchMetrics(),
        downloads: @escaping @Sendable (Int64) -> DownloadFigures? = { _ in nil },
        waits: HeldWaveRegistry = HeldWaveRegistry(),
        nodes: @escaping @Sendable () -> Int = { 1 },
        direct: DirectDispatch? = nil,
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.pages = PageSender(
            store: store,
            caps: FrequencyCapCounter(store),
            directory: directory,
            web: web,
            invalidation: invalidation,
            faults: faults,
            policy: policy,
            metrics: metrics,
            events: events,
            time: time
        )
        self.pacing = PacingController(page: limits.checked.page, figures: downloads, waits: waits, nodes: nodes)
        (self.wakes, self.outcomes) = (wakes, outcomes)
        self.limits = limits.checked
        (self.time, self.logger) = (time, logger)
        let writer = ResultWriter(
            store: store,
            pause: limits.writePause,
            events: events,
            metrics: metrics,
            time: time,
            logger: logger
        )
        self.writer = writer
        self.direct = direct ?? DirectDispatch(store: store, limits: limits, time: time)
        self.batcher = WriteBatcher { results in
            let commits = try? await writer.write(results)
            return commits ?? results.map { _ in .stopped }
        }
    }

    /// Sends notifications until graceful shutdown, which lets the pages in flight finish.
    package func run() async throws {
        let interrupted = try await self.store.recover(now: self.time.steady)
        try await self.store.settleWaiting(at: self.time.reading)
        if interrupted > 0 {
            self.logger.warning("recipients were interrupted", metadata: ["count": "\(interrupted)"])
        }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                for lane in NotificationRecord.Lane.allCases { group.addTask { await self.run(lane) } }
            }
        } onCancelOrGracefulShutdown: {
            for lane in NotificationRecord.Lane.allCases { self.wakes[lane].end() }
        }
    }

    /// Sends one page of retries and one page of new work in each lane, so that tests are deterministic.
    /// - Returns: `true` if there was anything to do, and `false` otherwise.
    package func step() async throws -> Bool {
        var hasWorked = false
        for lane in NotificationRecord.Lane.allCases {
            let due = try await self.claimRetries(lane)
            if !due.isEmpty { await self.retry(due) }
            let claims = try await self.claimShards(lane, limit: 1)
            switch lane {
            case .urgent: for claim in claims { _ = await self.sendUrgent(claim) }
            case .bulk: for claim in claims { try await self.sendShard(claim, pages: 1) }
            }
            hasWorked = hasWorked || !due.isEmpty || !claims.isEmpty
        }
        return hasWorked
    }

    var isEnding: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    func claimShards(
        _ lane: NotificationRecord.Lane,
        limit: Int,
        excluding services: Set<DispatchTarget> = []
    ) async throws -> [TrackedClaim<ShardClaim>] {
        let clocks = self.time.reading
        return try await self.leases.claim(fence: \.claim.fence, memory: { $0.memory }) { held in
            let claims = try await self.store.claim(
                lane: lane,
                at: clocks,
                until: clocks.steady.advanced(by: self.limits.lease),
                limit: limit,
                from: ClaimFilter(targets: services, held: held)
            )
            return claims.map { claim in
                var claim = claim
                claim.claimedAt = clocks.later
                return TrackedClaim(claim: claim, memory: ActiveClaim(claim.notification))
            }
        }
    }

    /// Claims the due retries of one app that is not among `apps`. The array is empty if there are none.
    func claimRetries(
        _ lane: NotificationRecord.Lane,
        excluding apps: Set<Int64> = []
    ) async throws -> [TrackedClaim<RetryClaim>] {
        let clocks = self.time.reading
        let now = clocks.steady
        return try await self.leases.claim(fence: \.claim.fence, memory: { $0.memory }) { held in
            let claims = try await self.store.dueRetries(
                lane: lane,
                now: now,
                until: now.advanced(by: self.limits.lease),
                limit: self.limits.page,
                from: ClaimFilter(excluding: apps, held: held)
            )
            return claims.map { claim in
                var claim = claim
                claim.claimedAt = clocks.later
                return TrackedClaim(claim: claim, memory: ActiveClaim(claim.notification))
            }
        }
    }
}

extension Dispatcher {
    /// Fills the slots of a lane while there is work, and sleeps otherwise.
    private func run(_ lane: NotificationRecord.Lane) async {
        let slots = LaneSlots(lane, limits: self.limits, time: self.time)
        await withDiscardingTaskGroup { group in
            if lane == .urgent {
                let work = self.direct.open(slots)
                group.addTask { await self.send(work) }
            }
            var isAwake = true
            var hasFailed = false
            while isAwake, !self.isEnding {
                do {
                    slots.tick()
                    if lane == .urgent { self.direct.fill() }
                    if try await self.start(in: slots, of: lane, in: &group) { continue }
                    let pause = try await self.pause(of: lane, slots)
                    hasFailed = false
                    isAwake = await self.wakes[lane].wait(atMost: pause)
                } catch {
                    // It is tried again as often as the lane is woken, and logged once until it succeeds.
                    if !hasFailed {
                        self.logger.error("dispatching failed, trying again", metadata: ["error": "\(error)"])
                    }
                    hasFailed = true
                    isAwake = await self.wakes[lane].wait(atMost: self.limits.sleep)
                }
            }
            if lane == .urgent { await self.direct.close() }
        }
    }

    /// Starts work for which a slot is free.
    /// - Returns: `true` if any work was started, and `false` otherwise.
    private func start(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        let hasRetried = try await self.startRetries(in: slots, of: lane, in: &group)
        let hasStarted = try await self.startShards(in: slots, of: lane, in: &group)
        return hasRetried || hasStarted
    }

    private func startRetries(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        for offer in slots.offers(.retries) {
            let due = try await self.claimRetries(lane, excluding: Set(offer.excluded.map(\.app)))
            guard let app = due.first?.notification.app else { continue }
            let slot = slots.acquire(.retries, DispatchTarget(app: app, environment: nil))
            group.addTask {
                await self.retry(due, in: slot)
                self.release(slot, of: lane)
            }
            return true
        }
        return false
    }

    private func startShards(
        in slots: LaneSlots,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        for offer in slots.offersOfShards() {
            let limit = min(offer.limit, self.limits.urgentClaims)
            let claims = try await self.claimShards(lane, limit: limit, excluding: offer.excluded)
            guard !claims.isEmpty else {
                if lane == .urgent { self.direct.noneWaits(besides: offer.excluded) }
                continue
            }
            for held in claims {
                let slot = slots.acquire(.shards, DispatchTarget(held.claim.notification))
                group.addTask {
                    switch lane {
                    case .bulk:
                        do { try await self.sendShard(held, in: slot) } catch {
                            let metadata: Logger.Metadata = ["error": "\(error)"]
                            self.logger.error("sending failed, trying again when the lease ends", metadata: metadata)
                        }
                        self.release(slot, of: lane)
                    case .urgent:
                        let leavesWork = await self.sendUrgent(held, in: slot)
                        self.releaseUrgent(slot, leavesWork: leavesWork)
                    }
                }
            }
            return true
        }
        return false
    }

    /// Sends notifications that were claimed when they were accepted, each as it arrives.
    private func send(_ work: AsyncStream<DirectDispatch.Work>) async {
        await withDiscardingTaskGroup { group in
            for await work in work {
                group.addTask {
                    // A claim that has waited long may have been stopped, and its recipients may have changed.
                    let page = self.time.steady < work.freshUntil ? work.shard.page : nil
                    let held = TrackedClaim(claim: work.shard.claim, memory: work.memory)
                    let leavesWork = await self.sendUrgent(held, page, hasWaited: page == nil, in: work.slot)
                    self.releaseUrgent(work.slot, leavesWork: leavesWork)
                }
            }
        }
    }

    /// Frees the slot of an urgent notification. Wakes the lane only if work may wait, as that queries the store.
    private func releaseUrgent(_ slot: LaneSlots.Slot?, leavesWork: Bool) {
        let isWanted = slot?.release() ?? true
        self.direct.fill()
        if isWanted || leavesWork { self.wakes[.urgent].signal() }
    }

    private func release(_ slot: LaneSlots.Slot?, of lane: NotificationRecord.Lane) {
        slot?.release()
        self.wakes[lane].signal()
    }

    /// Returns the maximum time to sleep without a signal.
    ///
    /// Due work that was not claimed waits for a slot, and the lane is signalled when a slot is freed. So the sleep
    /// needs to end only when further work becomes due or a page becomes late.
    private func pause(of lane: NotificationRecord.Lane, _ slots: LaneSlots) async throws -> Duration {
        let clocks = self.time.reading
        let oldest = slots.isBusy ? clocks.steady : Timestamp(milliseconds: .min)
        let due = try await self.store.nextDue(lane: lane, after: oldest, at: clocks)
        guard let next = [due, slots.nextDeadline].compactMap({ $0 }).min() else { return self.limits.sleep }
        let pause = next.since(clocks.steady)
        return min(self.limits.sleep, max(.milliseconds(pause <= .zero ? 50 : 1), pause))
    }
}
