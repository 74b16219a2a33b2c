import Crypto
import Foundation
package import Logging
package import PushProtocol
package import PushStore
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

    private let store: any PushStore
    private let intake: NotificationIntake
    private let wake: Wake
    private let settings: Settings
    private let time: any TimeSource
    private let logger: Logger

    package init(
        store: any PushStore,
        intake: NotificationIntake,
        wake: Wake,
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
        await withTaskCancellationOrGracefulShutdownHandler {
            var isAwake = true
            while isAwake, !Task.isShuttingDownGracefully, !Task.isCancelled {
                let turn = await self.turn()
                if turn.hasWorked { continue }
                // What failed is still due: it is not tried again at once.
                let pause = turn.hasFailed ? self.settings.sleep : await self.untilNext()
                isAwake = await self.wake.wait(atMost: pause)
            }
        } onCancelOrGracefulShutdown: {
            self.wake.end()
        }
    }

    private func untilNext() async -> Duration {
        let opening = try? await self.store.nextOpening()
        let run = try? await self.store.nextScheduleRun()
        guard let next = [opening, run].compactMap({ $0 }).min() else { return self.settings.sleep }
        return min(self.settings.sleep, max(.milliseconds(50), next.since(self.time.now)))
    }

    /// Whether anything was done.
    package func step() async -> Bool {
        await self.turn().hasWorked
    }

    /// What came of one look at what is due.
    private struct Turn {
        var hasWorked = false
        var hasFailed = false
    }

    /// One that fails does not keep the others from their time.
    private func turn() async -> Turn {
        var turn = Turn()
        func attempt(_ what: Logger.MetadataValue, _ work: () async throws -> Bool) async {
            do {
                if try await work() { turn.hasWorked = true }
            } catch {
                turn.hasFailed = true
                self.logger.error("scheduling failed, trying again", metadata: ["of": what, "error": "\(error)"])
            }
        }
        await attempt("notifications") { try await self.intake.openDue(limit: Self.batch) > 0 }
        var due: [ScheduleRecord] = []
        await attempt("schedules") {
            let found = try await self.store.dueSchedules(now: self.time.now, limit: Self.batch)
            for id in found.unreadable { self.reportUnreadable(id) }
            due = found.schedules
            return !found.unreadable.isEmpty
        }
        for schedule in due {
            await attempt("\(schedule.id)") {
                try await self.run(schedule)
                return true
            }
        }
        return turn
    }

    /// Each run has a notification of its own, always the same one: a crash between the two writes repeats nothing.
    private func run(_ schedule: ScheduleRecord) async throws {
        guard let next = schedule.nextRunAt,
            let rule = try? RecurringSchedule(stored: JSONValue(parsing: schedule.rule))
        else {
            // As it is now: if somebody has mended it meanwhile, it runs.
            guard var current = try await self.store.schedule(schedule.id), current.rule == schedule.rule else {
                return
            }
            current.isPaused = true
            _ = try await self.store.updateSchedule(current)
            return self.reportUnreadable("\(schedule.id)")
        }
        let due = rule.due(nextRun: next, now: self.time.now)
        for run in due.runs { try await self.send(schedule, run) }
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

    private func send(_ schedule: ScheduleRecord, _ run: Timestamp) async throws {
        guard let app = try await self.store.app(id: schedule.app) else { return }
        do {
            let request = try NotificationRequest(
                parsing: schedule.request,
                bundleID: app.bundleID,
                now: self.time.now
            )
            _ = try await self.intake.accept(
                request,
                app: app.id,
                id: Self.id(of: schedule.id, run: run),
                run: ScheduleRun(schedule: schedule.id, at: run)
            )
        } catch let refusal as APIRefusal {
            self.logger.error(
                "a run of a schedule was refused",
                metadata: ["schedule": "\(schedule.id)", "code": "\(refusal.code)", "message": "\(refusal.message)"]
            )
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
