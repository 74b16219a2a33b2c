import Crypto
import Foundation
package import Logging
import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// The scheduler: opens scheduled notifications and runs recurring schedules when they are due.
package struct ScheduleRunner: Service {
    package struct Settings: Hashable, Sendable {
        /// The maximum time for which the scheduler sleeps without a signal. Default 5 s.
        package var sleep: Duration = .seconds(5)
        /// The time after which the turn of an app ends: it starts no further work. Default 1 s.
        package var turn: Duration = .seconds(1)

        package init() {}
    }

    /// The maximum number of notifications, and of schedules, that are read in one query.
    private static let batch = 50

    private let store: any AppStore & DispatchStore & LibraryStore & ScheduleStore
    private let acceptor: NotificationAcceptor
    private let wake: WakeSignal
    private let settings: Settings
    private let time: any TimeSource
    private let logger: Logger
    private let log: RateLimitedLog

    package init(
        store: any AppStore & DispatchStore & LibraryStore & ScheduleStore,
        acceptor: NotificationAcceptor,
        wake: WakeSignal,
        settings: Settings = Settings(),
        lines: Budget,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.wake) = (store, acceptor, wake)
        (self.settings, self.time, self.logger) = (settings, time, logger)
        self.log = RateLimitedLog(logger, lines)
    }

    /// Performs due work until graceful shutdown.
    package func run() async throws {
        let workers = ScheduleWorkers()
        await self.wake.untilShutdown {
            await withDiscardingTaskGroup { group in
                var isAwake = true
                while isAwake, !Task.isShuttingDownGracefully, !Task.isCancelled {
                    let found = await self.findDue(workers.unavailable(at: .now))
                    for work in found.work where workers.start(work.app) {
                        group.addTask {
                            let result = await self.perform(work, until: .now + self.settings.turn)
                            let pause = result.hasFailed ? ContinuousClock.now + self.settings.sleep : nil
                            workers.finish(work.app, pausedUntil: pause)
                            self.wake.signal()
                        }
                    }
                    let isOver = found.work.isEmpty && !workers.isFull && workers.beginRound()
                    if isOver || found.result.hasWorked && !workers.isFull { continue }
                    // Work that failed is still due, but there is no new attempt immediately.
                    let pause =
                        found.result.hasFailed
                        ? self.settings.sleep : await self.timeUntilNext(workers)
                    isAwake = await self.wake.wait(atMost: pause)
                }
            }
        }
    }

    /// Returns the time until work is due for an app that may start. An app that finishes its work wakes the scheduler.
    private func timeUntilNext(_ workers: ScheduleWorkers) async -> Duration {
        guard let excluded = workers.unavailable(at: .now) else { return self.settings.sleep }
        let opening = try? await self.store.nextOpening(excluding: excluded)
        let run = try? await self.store.nextScheduleRun(excluding: excluded)
        let pauses = [
            [opening, run].compactMap { $0 }.min().map { $0.since(self.time.now) }, workers.timeUntilResumed(.now),
        ]
        guard let next = pauses.compactMap({ $0 }).min() else { return self.settings.sleep }
        return min(self.settings.sleep, max(.milliseconds(50), next))
    }

    /// Performs all due work once.
    /// - Returns: `true` if any work was due, and `false` otherwise.
    package func step() async -> Bool {
        let found = await self.findDue([])
        return await withTaskGroup(of: WorkResult.self) { group in
            for work in found.work { group.addTask { await self.perform(work) } }
            return await group.reduce(found.result.hasPaused) { $0 || $1.hasWorked }
        }
    }

    /// The result of one search for due work, or of one app's work.
    private struct WorkResult {
        var hasWorked = false, hasFailed = false
        /// A Boolean value that indicates whether the work was refused because other queries have to run first. The
        /// rest of the app's work then waits.
        var isRefused = false
        var hasPaused = false
    }

    /// Reads the work that is due.
    /// - Parameter excluded: The apps whose work cannot start now, or `nil` if no work can start.
    private func findDue(_ excluded: Set<Int64>?) async -> (work: [DueWork], result: WorkResult) {
        var result = WorkResult()
        guard let excluded else { return ([], result) }
        var notifications: [NotificationRecord] = []
        var schedules: [ScheduleRecord] = []
        let now = self.time.now
        await self.attempt("notifications", &result) { _ in
            notifications = try await self.store.due(now: now, limit: Self.batch, excluding: excluded)
        }
        await self.attempt("schedules", &result) { result in
            let found = try await self.store.dueSchedules(now: now, limit: Self.batch, excluding: excluded)
            for id in found.unreadable {
                self.logger.error("a schedule cannot be read and is paused", metadata: ["schedule": "\(id)"])
            }
            result.hasPaused = !found.unreadable.isEmpty
            schedules = found.schedules
        }
        result.hasWorked = result.hasPaused || !notifications.isEmpty || !schedules.isEmpty
        return (DueWork.byApp(notifications, schedules), result)
    }

    /// Performs the work of one app. A notification or schedule that fails does not block the others.
    /// - Parameter end: The end of the app's turn, or `nil` for no limit. The first item is always processed.
    private func perform(_ work: DueWork, until end: ContinuousClock.Instant? = nil) async -> WorkResult {
        var result = WorkResult()
        var isFirst = true
        func isOver() -> Bool {
            defer { isFirst = false }
            return Task.isShuttingDownGracefully || result.isRefused || !isFirst && end.map { .now >= $0 } ?? false
        }
        for notification in work.notifications where !isOver() {
            await self.attempt("notifications", &result) { result in
                if try await self.acceptor.opener.openDue(notification) { result.hasWorked = true }
            }
        }
        for schedule in work.schedules where !isOver() {
            await self.attempt("\(schedule.id)", &result) { result in
                try await self.run(schedule)
                result.hasWorked = true
            }
        }
        return result
    }

    private func attempt(
        _ subject: Logger.MetadataValue,
        _ result: inout WorkResult,
        _ body: (inout WorkResult) async throws -> Void
    ) async {
        do {
            try await body(&result)
        } catch let refusal as BudgetRefusal {
            (result.hasFailed, result.isRefused) = (true, true)
            let metadata: Logger.Metadata = ["of": subject, "full": "\(refusal.level.rawValue)"]
            self.log.log(.notice, "scheduled work waits: the recipients of others are counted first", metadata)
        } catch {
            result.hasFailed = true
            self.logger.error("scheduling failed, trying again", metadata: ["of": subject, "error": "\(error)"])
        }
    }

    /// Performs the due runs of a schedule. A run's notification has a fixed id, so that a crash repeats nothing.
    private func run(_ schedule: ScheduleRecord) async throws {
        guard let planned = schedule.nextRunAt else { return }
        guard let next = self.firstRun(of: schedule, planned) else {
            return try await self.store.advanceSchedule(
                schedule.id,
                from: planned,
                to: nil,
                lastRunAt: schedule.lastRunAt
            )
        }
        let due = schedule.rule.due(nextRun: next, now: self.time.now)
        if next <= self.time.now, due.runs.first != next {
            let metadata: Logger.Metadata = [
                "schedule": "\(schedule.id)", "since": "\(next.rfc3339)", "made": "\(due.runs.count)",
            ]
            let app = try await self.store.app(id: schedule.app)?.bundleID
            self.log.log(.warning, "schedule runs were missed", metadata, app: app)
            let message =
                "runs from \(next.rfc3339) on were missed while the provider did not work; \(due.runs.count) made"
            try await self.note(message, of: schedule)
        }
        for run in due.runs {
            // If the schedule was changed, paused or deleted meanwhile, it is read again.
            guard try await self.send(schedule, run) else { return }
        }
        // After a clock that was ahead, the last run may be in the future, and then it does not count.
        let last = schedule.lastRunAt.flatMap { $0 <= self.time.recorded ? $0 : nil }
        try await self.store.advanceSchedule(
            schedule.id,
            from: planned,
            to: due.next,
            lastRunAt: due.runs.last.map { max($0, last ?? $0) } ?? schedule.lastRunAt
        )
    }

    /// Returns the first run that may take place, or `nil` if there is none. It is the planned run, unless that is
    /// earlier than the schedule's creation or last run because a clock was far behind when it was planned.
    private func firstRun(of schedule: ScheduleRecord, _ planned: Timestamp) -> Timestamp? {
        let last = max(schedule.createdAt, schedule.lastRunAt ?? schedule.createdAt)
        // A last run in the future comes from a clock that was ahead, and does not count.
        guard planned < last, last <= self.time.now else { return planned }
        return schedule.rule.nextRun(after: last)
    }

    /// Sends the notification of a run. The result is `false` if the schedule has changed since the run was planned.
    private func send(_ schedule: ScheduleRecord, _ run: Timestamp) async throws -> Bool {
        guard let app = try await self.store.app(id: schedule.app) else { return true }
        do {
            let fields = try JSONFields(parsing: schedule.request, known: NotificationRequest.object.known)
            var request = try await NotificationRequest.read(fields, of: app, now: self.time.now, in: self.store)
            if request.name == nil { request.name = schedule.name }
            let (_, acceptance) = try await self.acceptor.accept(
                request,
                app: app.id,
                id: Self.id(of: schedule.id, run: run),
                key: schedule.key,
                run: ScheduleRun(schedule: schedule.id, at: run),
                scheduleVersion: schedule.version
            )
            if acceptance == .accepted {
                // The note about earlier missed runs is kept until the next run.
                if schedule.problem != nil {
                    try await self.store.clearProblem(ofSchedule: schedule.id, notedBefore: run)
                }
                let metadata: Logger.Metadata = [
                    "app": "\(app.bundleID.name)", "schedule": "\(schedule.id)", "run": "\(run.rfc3339)",
                    "notification": "\(Self.id(of: schedule.id, run: run))",
                ]
                self.log.log(.info, "schedule run was made", metadata, app: app.bundleID)
            }
            return acceptance != .scheduleChanged
        } catch let error as RequestError {
            self.logger.error(
                "a run of a schedule was rejected",
                metadata: ["schedule": "\(schedule.id)", "code": "\(error.code)", "message": "\(error.message)"]
            )
            let place = error.path.map { " (\($0))" } ?? ""
            try await self.note("the run of \(run.rfc3339) was rejected: \(error.message)\(place)", of: schedule)
            return true
        }
    }

    /// Stores a problem of the schedule, which the API reports.
    private func note(_ message: String, of schedule: ScheduleRecord) async throws {
        try await self.store.setProblem(ScheduleProblem(message: message, at: self.time.now), ofSchedule: schedule.id)
    }

    /// Returns the id of a run's notification, a UUID of version 8 (RFC 9562 section 5.8) from schedule and run.
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
