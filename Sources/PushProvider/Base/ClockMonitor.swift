package import Logging
import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// Watches the wall and the steady clock (see ``ClockStateMachine``). It stores marks, from which the steady clock
/// continues after a restart. It wakes all sleeping services after the wall clock was set.
package final class ClockMonitor: Service {
    private static let interval: Duration = .seconds(10)
    /// The number of observations, one every 10 seconds, after which a clock mark is stored: once a minute.
    private static let observationsPerMark = 6

    private let store: any AppStore & ClockStore & DispatchStore & ScheduleStore
    private let stateMachine: Mutex<ClockStateMachine>
    private let time: any TimeSource
    private let wakes: [WakeSignal]
    private let logger: Logger

    /// Creates a monitor. After a step of the wall clock it sends `wakes`, the signals of all sleeping services.
    package init(
        store: any AppStore & ClockStore & DispatchStore & ScheduleStore,
        stateMachine: ClockStateMachine,
        time: any TimeSource,
        wakes: [WakeSignal],
        logger: Logger
    ) {
        self.store = store
        self.stateMachine = Mutex(stateMachine)
        (self.time, self.wakes, self.logger) = (time, wakes, logger)
    }

    /// Observes the clocks every 10 seconds until graceful shutdown.
    package func run() async throws {
        if let ahead = self.stateMachine.withLock({ $0.disbelieved }) {
            self.logger.warning(
                """
                the clock is further ahead than this server was down: until the server has run for a day, nothing that \
                is over only by this clock is deleted or ended; if the clock is right, start with --confirm-clock
                """,
                metadata: ["aheadHours": "\(ahead.components.seconds / 3600)"]
            )
        }
        let wake = WakeSignal()
        await wake.untilShutdown {
            await self.step(isStart: true)
            var observations = 0
            while await wake.wait(atMost: Self.interval) {
                observations += 1
                await self.step(marks: observations % Self.observationsPerMark == 0)
            }
        }
    }

    /// Observes the clocks once. At the start and after a step of the wall clock, it also corrects stored times.
    /// - Parameters:
    ///   - isStart: `true` at the start of the process, when stored times may come from a clock that was wrong.
    ///   - marks: `true` to store a mark, and `false` to store one only at the start or after a step.
    package func step(isStart: Bool = false, marks: Bool = true) async {
        let clocks = self.time.reading
        let observation = self.stateMachine.withLock { $0.observe(clocks) }
        do {
            if marks || isStart || observation.step != nil { try await self.store.setClockMark(observation.mark) }
            if let step = observation.step {
                let seconds = "\(step.components.seconds)"
                self.logger.warning("the clock was set", metadata: ["bySeconds": "\(seconds)"])
            }
            guard isStart || observation.step != nil else { return }
            try await self.store.settleWaiting(at: clocks)
            try await self.settleSchedules(clocks)
        } catch {
            self.logger.error("the time could not be stored", metadata: ["error": "\(error)"])
        }
        for wake in self.wakes { wake.signal() }
    }

    /// Moves schedule runs that were planned while the wall clock was ahead to their correct times, and resumes
    /// schedules that ended only because it was ahead. Past runs keep their time, and no run takes place twice.
    private func settleSchedules(_ clocks: ClockReading) async throws {
        for app in try await self.store.apps() {
            var cursor: ScheduleCursor?
            repeat {
                let page = try await self.store.schedules(app: app.id, after: cursor, limit: 100, longestRequest: 0)
                for entry in page.entries where !entry.schedule.isPaused {
                    try await self.settle(entry.schedule, clocks)
                }
                cursor = page.next
            } while cursor != nil
        }
    }

    private func settle(_ schedule: ScheduleRecord, _ clocks: ClockReading) async throws {
        let planned = schedule.nextRunAt
        // A wall clock that is far behind would continue every ended schedule, so the later of the two clocks decides.
        let isLost = clocks.wall.advanced(by: ClockStateMachine.plausible) < clocks.steady
        let now = planned == nil && isLost ? clocks.later : clocks.wall
        let lastRun = schedule.lastRunAt.flatMap { $0 <= now.advanced(by: ClockStateMachine.plausible) ? $0 : nil }
        guard let next = schedule.rule.nextRun(after: max(now, lastRun ?? now)) else { return }
        if let planned, next >= planned { return }
        if planned == nil {
            let metadata: Logger.Metadata = ["schedule": "\(schedule.id)", "next": "\(next.rfc3339)"]
            self.logger.warning("a schedule ended by a clock that was ahead, and continues", metadata: metadata)
        }
        try await self.store.advanceSchedule(schedule.id, from: planned, to: next, lastRunAt: schedule.lastRunAt)
    }
}
