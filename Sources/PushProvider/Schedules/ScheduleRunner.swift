import Crypto
import Foundation
package import Logging
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Does what has its time: opens scheduled notifications, runs recurring schedules.
package struct ScheduleRunner: Service {
    package struct Settings: Hashable, Sendable {
        /// The longest sleep. Default 5 s.
        package var sleep: Duration = .seconds(5)

        package init() {}
    }

    /// Notifications or schedules handled in one turn.
    private static let batch = 50

    private let store: any ProviderStore
    private let intake: NotificationAcceptor
    private let wake: WakeSignal
    private let settings: Settings
    private let time: any TimeSource
    private let logger: Logger

    package init(
        store: any ProviderStore,
        intake: NotificationAcceptor,
        wake: WakeSignal,
        settings: Settings = Settings(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.intake = intake
        self.wake = wake
        self.settings = settings
        self.time = time
        self.logger = logger
    }

    package func run() async throws {
        let lanes = SharedScheduleWorkers()
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                var isAwake = true
                while isAwake, !Task.isShuttingDownGracefully, !Task.isCancelled {
                    let found = await self.look(lanes.unavailable(at: .now))
                    for work in found.work where lanes.begin(work.app) {
                        group.addTask {
                            let turn = await self.turn(work)
                            let rest = turn.hasFailed ? ContinuousClock.now + self.settings.sleep : nil
                            lanes.ended(work.app, restsUntil: rest)
                            self.wake.signal()
                        }
                    }
                    if found.turn.hasWorked, !lanes.isFull { continue }
                    // What failed is still due: it is not tried again at once.
                    let pause =
                        found.turn.hasFailed
                        ? self.settings.sleep : await self.untilNext(lanes.copy)
                    isAwake = await self.wake.wait(atMost: pause)
                }
            }
        } onCancelOrGracefulShutdown: {
            self.wake.end()
        }
    }

    /// Until something is due of an app that can begin then; the end of a turn is signalled.
    private func untilNext(_ lanes: ScheduleWorkers) async -> Duration {
        var lanes = lanes
        guard !lanes.isFull else { return self.settings.sleep }
        let excluded = lanes.unavailable(at: .now)
        let opening = try? await self.store.nextOpening(excluding: excluded)
        let run = try? await self.store.nextScheduleRun(excluding: excluded)
        let pauses = [
            [opening, run].compactMap { $0 }.min().map { $0.since(self.time.now) }, lanes.untilRested(.now),
        ]
        guard let next = pauses.compactMap({ $0 }).min() else { return self.settings.sleep }
        return min(self.settings.sleep, max(.milliseconds(50), next))
    }

    /// Does everything that a look finds due.
    /// - Returns: whether anything was done.
    package func step() async -> Bool {
        let found = await self.look([])
        return await withTaskGroup(of: Turn.self) { group in
            for work in found.work { group.addTask { await self.turn(work) } }
            return await group.reduce(found.turn.hasFound) { $0 || $1.hasWorked }
        }
    }

    /// The result of one look at what is due, or of one app's turn.
    private struct Turn {
        var hasWorked = false
        var hasFailed = false
        /// Schedules that cannot be read were found and paused.
        var hasFound = false
    }

    /// Finds what is due.
    /// - Parameter excluded: apps that cannot begin now; `nil` if none can.
    private func look(_ excluded: Set<Int64>?) async -> (work: [ScheduledWork], turn: Turn) {
        var turn = Turn()
        guard let excluded else { return ([], turn) }
        var notifications: [NotificationRecord] = []
        var schedules: [ScheduleRecord] = []
        let now = self.time.now
        await self.attempt("notifications", &turn) { _ in
            notifications = try await self.store.due(now: now, limit: Self.batch, excluding: excluded)
        }
        await self.attempt("schedules", &turn) { turn in
            let found = try await self.store.dueSchedules(now: now, limit: Self.batch, excluding: excluded)
            for id in found.unreadable { self.reportUnreadable(id) }
            turn.hasFound = !found.unreadable.isEmpty
            schedules = found.schedules
        }
        turn.hasWorked = turn.hasFound || !notifications.isEmpty || !schedules.isEmpty
        return (ScheduledWork.byApp(notifications, schedules), turn)
    }

    /// One that fails does not keep the others from their time.
    private func turn(_ work: ScheduledWork) async -> Turn {
        var turn = Turn()
        for notification in work.notifications where !Task.isShuttingDownGracefully {
            await self.attempt("notifications", &turn) { turn in
                if try await self.intake.openDue(notification) { turn.hasWorked = true }
            }
        }
        for schedule in work.schedules where !Task.isShuttingDownGracefully {
            await self.attempt("\(schedule.id)", &turn) { turn in
                try await self.run(schedule)
                turn.hasWorked = true
            }
        }
        return turn
    }

    private func attempt(
        _ what: Logger.MetadataValue,
        _ turn: inout Turn,
        _ body: (inout Turn) async throws -> Void
    ) async {
        do {
            try await body(&turn)
        } catch {
            turn.hasFailed = true
            self.logger.error("scheduling failed, trying again", metadata: ["of": what, "error": "\(error)"])
        }
    }

    /// Each run has a notification of its own, always the same one: a crash between the two writes repeats nothing.
    private func run(_ schedule: ScheduleRecord) async throws {
        guard let next = schedule.nextRunAt,
            let rule = try? RecurringSchedule(stored: JSONValue(parsing: schedule.rule))
        else {
            // Not if it was mended meanwhile.
            if case .changed = try await self.store.changeSchedule(schedule.id, .pause(version: schedule.version)) {
                self.reportUnreadable("\(schedule.id)")
            }
            return
        }
        let due = rule.due(nextRun: next, now: self.time.now)
        for run in due.runs {
            // It was changed, paused or deleted meanwhile: that counts, and is looked at anew.
            guard try await self.send(schedule, run) else { return }
        }
        try await self.store.advanceSchedule(
            schedule.id,
            from: next,
            to: due.next,
            lastRunAt: due.runs.last ?? schedule.lastRunAt
        )
    }

    private func reportUnreadable(_ id: String) {
        self.logger.error("a schedule cannot be read and is paused", metadata: ["schedule": "\(id)"])
    }

    /// - Returns: `false` if the schedule is not any more what the run was decided from.
    private func send(_ schedule: ScheduleRecord, _ run: Timestamp) async throws -> Bool {
        guard let app = try await self.store.app(id: schedule.app) else { return true }
        do {
            let request = try NotificationRequest(
                parsing: schedule.request,
                bundleID: app.bundleID,
                now: self.time.now
            )
            let (_, acceptance) = try await self.intake.accept(
                request,
                app: app.id,
                id: Self.id(of: schedule.id, run: run),
                run: ScheduleRun(schedule: schedule.id, at: run),
                scheduleVersion: schedule.version
            )
            return acceptance != .scheduleChanged
        } catch let refusal as RequestError {
            self.logger.error(
                "a run of a schedule was refused",
                metadata: ["schedule": "\(schedule.id)", "code": "\(refusal.code)", "message": "\(refusal.message)"]
            )
            return true
        }
    }

    /// Derived from both, as a UUID of version 8 (RFC 9562 section 5.8).
    static func id(of schedule: UUID, run: Timestamp) -> UUID {
        var hash = SHA256()
        hash.update(data: withUnsafeBytes(of: schedule.uuid) { Data($0) })
        hash.update(data: withUnsafeBytes(of: run.milliseconds.bigEndian) { Data($0) })
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        var uuid = schedule.uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
        return UUID(uuid: uuid)
    }
}
