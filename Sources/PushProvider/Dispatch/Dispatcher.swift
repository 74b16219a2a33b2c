import Foundation
package import Logging
package import PushProtocol
package import PushStore
import ServiceLifecycle

/// Sends what was accepted: claims shards, walks them page by page, writes each page's results in one transaction,
/// repeats what failed when its time has come. Each lane has its own places, connections and retries.
package struct Dispatcher: Service {
    let store: any PushStore
    let pages: PageSender
    let pacing: PacingDesk
    let wakes: LaneWakes
    let limits: DispatchLimits
    let time: any TimeSource
    let logger: Logger
    let writer: ResultWriter
    let group: CommitGroup
    let held = HeldLeases()

    package init(
        store: any PushStore,
        directory: SenderDirectory,
        hygiene: TokenHygiene,
        wakes: LaneWakes,
        limits: DispatchLimits = DispatchLimits(),
        policy: RetryPolicy = RetryPolicy(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.pages = PageSender(store: store, directory: directory, hygiene: hygiene, policy: policy, time: time)
        self.pacing = PacingDesk(page: limits.checked.page)
        self.wakes = wakes
        self.limits = limits.checked
        self.time = time
        self.logger = logger
        let writer = ResultWriter(store: store, pause: limits.writePause, time: time, logger: logger)
        self.writer = writer
        self.group = CommitGroup { results in _ = try? await writer.write(results) }
    }

    /// Works until graceful shutdown, which lets the pages in flight finish.
    package func run() async throws {
        let interrupted = try await self.store.recover(now: self.time.now)
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

    /// Fills the places of a lane as long as there is something to do, else sleeps.
    private func work(_ lane: NotificationRecord.Lane) async {
        let places = LanePlaces()
        await withDiscardingTaskGroup { group in
            var isAwake = true
            while isAwake, !self.isEnding {
                do {
                    if try await self.fill(places, of: lane, in: &group) { continue }
                    let pause = try await self.untilNext(lane, isBusy: places.isBusy)
                    isAwake = await self.wakes[lane].wait(atMost: pause)
                } catch {
                    self.logger.error("dispatching failed, trying again", metadata: ["error": "\(error)"])
                    isAwake = await self.wakes[lane].wait(atMost: self.limits.sleep)
                }
            }
        }
    }

    /// Starts what there is a place for. Whether there was anything.
    private func fill(
        _ places: LanePlaces,
        of lane: NotificationRecord.Lane,
        in group: inout DiscardingTaskGroup
    ) async throws -> Bool {
        var hasStarted = false
        let wake = self.wakes[lane]
        if places.retrying < self.limits.retryPages {
            // Those first that have no place; then others, as long as one place is left for who comes late.
            let served = places.appsRetrying(with: 1)
            var due = try await self.dueRetries(lane, excluding: served)
            if due.isEmpty, !served.isEmpty {
                let limit = max(1, self.limits.retryPages - 1)
                due = try await self.dueRetries(lane, excluding: places.appsRetrying(with: limit))
            }
            if let app = due.first?.notification.app {
                hasStarted = true
                places.startRetry(app)
                group.addTask { [due] in
                    await self.retry(due)
                    places.endRetry(app)
                    wake.signal()
                }
            }
        }
        let capacity = lane == .bulk ? self.limits.walkers : self.limits.urgentPlaces
        let free = capacity - places.running
        guard free > 0 else { return hasStarted }
        let crowded = lane == .bulk ? [] : places.apps(with: capacity / 4)
        for claim in try await self.claim(lane, limit: min(free, self.limits.urgentClaims), excluding: crowded) {
            hasStarted = true
            let app = claim.notification.app
            places.start(app)
            group.addTask {
                switch lane {
                case .bulk: await self.logged { try await self.walk(claim) }
                case .urgent: await self.sendUrgent(claim)
                }
                places.end(app)
                wake.signal()
            }
        }
        return hasStarted
    }

    func claim(
        _ lane: NotificationRecord.Lane,
        limit: Int,
        excluding apps: Set<Int64> = []
    ) async throws -> [ShardClaim] {
        let now = self.time.now
        return try await self.held.claim { held in
            try await self.store.claim(
                lane: lane,
                now: now,
                until: now.advanced(by: self.limits.lease),
                limit: limit,
                from: ClaimFilter(excluding: apps, held: held)
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
        let now = self.time.now
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

    /// What is due already and was not taken waits for something that is under way, whose end is a signal; what becomes
    /// due meanwhile does not.
    private func untilNext(_ lane: NotificationRecord.Lane, isBusy: Bool) async throws -> Duration {
        let now = self.time.now
        let oldest = isBusy ? now : Timestamp(milliseconds: .min)
        guard let next = try await self.store.nextDue(lane: lane, after: oldest) else { return self.limits.sleep }
        let pause = next.since(now)
        return min(self.limits.sleep, max(.milliseconds(pause <= .zero ? 50 : 1), pause))
    }

    private func logged(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            self.logger.error("sending failed, trying again when the lease ends", metadata: ["error": "\(error)"])
        }
    }
}
