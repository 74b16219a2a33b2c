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
        self.pacing = PacingDesk(page: limits.page)
        self.wakes = wakes
        self.limits = limits.checked
        self.time = time
        self.logger = logger
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
        if places.canRetry {
            let due = try await self.dueRetries(lane)
            if !due.isEmpty {
                hasStarted = true
                places.startRetry()
                group.addTask {
                    await self.logged { try await self.retry(due) }
                    places.endRetry()
                    wake.signal()
                }
            }
        }
        let free = (lane == .bulk ? self.limits.walkers : self.limits.urgentBatches) - places.running
        guard free > 0 else { return hasStarted }
        let claims = try await self.claim(lane, limit: lane == .bulk ? free : self.limits.urgentBatch)
        let work = lane == .bulk ? claims.map { [$0] } : claims.isEmpty ? [] : [claims]
        for claims in work {
            hasStarted = true
            places.start()
            group.addTask {
                await self.logged {
                    if lane == .bulk {
                        for claim in claims { try await self.walk(claim) }
                    } else {
                        try await self.sendUrgent(claims)
                    }
                }
                places.end()
                wake.signal()
            }
        }
        return hasStarted
    }

    func claim(_ lane: NotificationRecord.Lane, limit: Int) async throws -> [ShardClaim] {
        let now = self.time.now
        return try await self.store.claim(
            lane: lane,
            now: now,
            until: now.advanced(by: self.limits.lease),
            limit: limit
        )
    }

    func dueRetries(_ lane: NotificationRecord.Lane) async throws -> [RetryClaim] {
        let now = self.time.now
        return try await self.store.dueRetries(
            lane: lane,
            now: now,
            until: now.advanced(by: self.limits.lease),
            limit: self.limits.page
        ) { PreparedNotification.needs(PreparedNotification.renderer($0)) }
    }

    /// What is due already waits for something that is under way, whose end is a signal.
    private func untilNext(_ lane: NotificationRecord.Lane, isBusy: Bool) async throws -> Duration {
        guard let next = try await self.store.nextDue(lane: lane) else { return self.limits.sleep }
        let pause = next.since(self.time.now)
        if pause <= .zero { return isBusy ? self.limits.sleep : .milliseconds(50) }
        return min(self.limits.sleep, max(.milliseconds(1), pause))
    }

    private func logged(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            self.logger.error("sending failed, trying again when the lease ends", metadata: ["error": "\(error)"])
        }
    }
}
