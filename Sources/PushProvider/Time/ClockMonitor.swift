package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// Looks at the clocks: writes down where the steady one is, and after a step of the wall clock wakes whatever sleeps
/// towards a moment that may have moved.
package final class ClockMonitor: Service {
    private static let interval: Duration = .seconds(10)
    /// Looks between two marks.
    private static let looksPerMark = 6

    private let store: any ProviderStore
    private let machine: Mutex<ClockStateMachine>
    private let time: any TimeSource
    private let wakes: [WakeSignal]
    private let logger: Logger

    /// - Parameter wakes: of everything that sleeps.
    package init(
        store: any ProviderStore,
        machine: ClockStateMachine,
        time: any TimeSource,
        wakes: [WakeSignal],
        logger: Logger
    ) {
        self.store = store
        self.machine = Mutex(machine)
        self.time = time
        self.wakes = wakes
        self.logger = logger
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        if let ahead = self.machine.withLock({ $0.disbelieved }) {
            self.logger.warning(
                """
                the clock is further ahead than this server has been away: until it has run for a day, nothing that is \
                over only by this clock is deleted or given up; if the clock is right, start with --confirm-clock
                """,
                metadata: ["aheadHours": "\(ahead.components.seconds / 3600)"]
            )
        }
        let wake = WakeSignal()
        await withTaskCancellationOrGracefulShutdownHandler {
            await self.step(isStart: true)
            var looks = 0
            while await wake.wait(atMost: Self.interval) {
                looks += 1
                await self.step(marks: looks % Self.looksPerMark == 0)
            }
        } onCancelOrGracefulShutdown: {
            wake.end()
        }
    }

    /// - Parameter isStart: whether what was written before may be of another clock.
    package func step(isStart: Bool = false, marks: Bool = true) async {
        let clocks = self.time.reading
        let observation = self.machine.withLock { $0.observe(clocks) }
        do {
            if marks || isStart || observation.step != nil { try await self.store.setClockMark(observation.mark) }
            if let step = observation.step {
                let seconds = "\(step.components.seconds)"
                self.logger.warning("the clock was set", metadata: ["bySeconds": "\(seconds)"])
            }
            guard isStart || observation.step != nil else { return }
            try await self.store.settleWaiting(at: clocks)
            try await self.settleSchedules(clocks.wall)
        } catch {
            self.logger.error("the time could not be written down", metadata: ["error": "\(error)"])
        }
        for wake in self.wakes { wake.signal() }
    }

    /// Brings runs that were planned under a clock ahead of this one back to when they are to be. What has run already
    /// keeps its moment, and no moment runs twice.
    private func settleSchedules(_ now: Timestamp) async throws {
        for app in try await self.store.apps() {
            var cursor: ScheduleCursor?
            repeat {
                let page = try await self.store.schedules(app: app.id, after: cursor, limit: 100, longestRequest: 0)
                for entry in page.entries where !entry.schedule.isPaused {
                    try await self.settle(entry.schedule, now)
                }
                cursor = page.next
            } while cursor != nil
        }
    }

    private func settle(_ schedule: ScheduleRecord, _ now: Timestamp) async throws {
        guard let planned = schedule.nextRunAt, let rule = try? JSONValue(parsing: schedule.rule),
            let recurring = try? RecurringSchedule(stored: rule)
        else { return }
        let lastRun = schedule.lastRunAt.flatMap { $0 <= now.advanced(by: ClockStateMachine.plausible) ? $0 : nil }
        guard let next = recurring.nextRun(after: max(now, lastRun ?? now)), next < planned else { return }
        try await self.store.advanceSchedule(
            schedule.id,
            from: planned,
            to: next,
            lastRunAt: schedule.lastRunAt
        )
    }
}
