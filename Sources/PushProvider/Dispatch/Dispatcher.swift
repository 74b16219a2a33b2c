import Foundation
package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Sends accepted notifications.
///
/// It claims shards, sends them page by page, writes each page's results in one transaction, and repeats what failed when
/// it is due. Each lane has its own slots, connections and retries.
package struct Dispatcher: Service {
    let store: any AppStore & DispatchStore & UserStore & WebhookStore
    let pages: PageSender
    let pacing: PacingController
    let wakes: LaneWakeSignals
    let outcomes: OutcomeSignals
    let limits: DispatchLimits
    let time: any TimeSource
    let logger: Logger
    let writer: ResultWriter
    /// Writes results that could not be written at once, until they can.
    let batcher: WriteBatcher<PageResult, CommitResult>
    let direct: DirectDispatch
    var leases: HeldLeases { self.direct.ledger.leases }

    /// - Parameters:
    ///   - web: The senders to browsers; `nil` where nothing is sent to them.
    ///   - outcomes: Signalled when outcomes of a notification are on disk.
    ///   - events: Signalled when events for webhooks are.
    ///   - downloads: Returns the figures of an app's downloads, which waves may wait for; `nil` if they are not known.
    ///   - waits: Receives the waves that wait for them.
    ///   - direct: The way on which accepted notifications come; `nil` for one that nobody uses.
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
        self.pacing = PacingController(page: limits.checked.page, figures: downloads, waits: waits)
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

    /// Works until graceful shutdown, which lets the pages in flight finish.
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

    /// Does one page of retries and one page of new work in each lane: the deterministic way to work, for tests.
    /// - Returns: `true` if there was anything to do.
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

    /// Claims due retries of one app.
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
