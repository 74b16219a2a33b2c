import Foundation
package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Sends what was accepted: claims shards, walks them page by page, writes each page's results in one transaction,
/// repeats what failed when its time has come. Each lane has its own places, connections and retries.
package struct Dispatcher: Service {
    let store: any ProviderStore
    let pages: PageSender
    let pacing: PacingController
    let wakes: LaneWakeSignals
    let limits: DispatchLimits
    let time: any TimeSource
    let logger: Logger
    let writer: ResultWriter
    let group: CommitBatcher
    let held = HeldLeases()

    package init(
        store: any ProviderStore,
        directory: SenderDirectory,
        hygiene: TokenInvalidationPolicy,
        wakes: LaneWakeSignals,
        limits: DispatchLimits = DispatchLimits(),
        policy: RetryPolicy = RetryPolicy(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.pages = PageSender(store: store, directory: directory, hygiene: hygiene, policy: policy, time: time)
        self.pacing = PacingController(page: limits.checked.page)
        self.wakes = wakes
        self.limits = limits.checked
        self.time = time
        self.logger = logger
        let writer = ResultWriter(store: store, pause: limits.writePause, time: time, logger: logger)
        self.writer = writer
        self.group = CommitBatcher { results in _ = try? await writer.write(results) }
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
                for lane in NotificationRecord.Lane.allCases { group.addTask { await self.work(lane) } }
            }
        } onCancelOrGracefulShutdown: {
            for lane in NotificationRecord.Lane.allCases { self.wakes[lane].end() }
        }
    }

    var isEnding: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    func claim(
        _ lane: NotificationRecord.Lane,
        limit: Int,
        excluding services: Set<DispatchTarget> = []
    ) async throws -> [ShardClaim] {
        let clocks = self.time.reading
        return try await self.held.claim { held in
            try await self.store.claim(
                lane: lane,
                at: clocks,
                until: clocks.steady.advanced(by: self.limits.lease),
                limit: limit,
                from: ClaimFilter(services: services, held: held)
            )
        } fence: {
            $0.fence
        }
    }

    /// Of one app.
    func dueRetries(
        _ lane: NotificationRecord.Lane,
        excluding apps: Set<Int64> = []
    ) async throws -> [RetryClaim] {
        let now = self.time.steady
        return try await self.held.claim { held in
            try await self.store.dueRetries(
                lane: lane,
                now: now,
                until: now.advanced(by: self.limits.lease),
                limit: self.limits.page,
                from: ClaimFilter(excluding: apps, held: held)
            ) { PreparedNotification.retryNeeds($0) }
        } fence: {
            $0.fence
        }
    }
}
