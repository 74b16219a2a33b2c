import PushStore
import Synchronization

/// The apps whose scheduled work is in progress.
///
/// The work of an app runs in one worker, so that an app whose audiences take long to count delays its own runs only.
struct ScheduleWorkers {
    /// The maximum number of apps at the same time.
    static let maximum = 8

    private var running: Set<Int64> = []
    /// The apps whose work failed, and the time of the next try.
    private var paused: [Int64: ContinuousClock.Instant] = [:]

    var isFull: Bool { self.running.count >= Self.maximum }

    /// Starts the work of an app.
    /// - Returns: `false` if the app's work is in progress, or too many others are.
    mutating func start(_ app: Int64) -> Bool {
        guard !self.isFull else { return false }
        return self.running.insert(app).inserted
    }

    /// Ends the work of an app.
    /// - Parameter pausedUntil: the time of the next try; `nil` if nothing failed.
    mutating func finish(_ app: Int64, pausedUntil: ContinuousClock.Instant?) {
        self.running.remove(app)
        self.paused[app] = pausedUntil
    }

    /// Returns the apps that cannot start now.
    mutating func unavailable(at now: ContinuousClock.Instant) -> Set<Int64> {
        self.paused = self.paused.filter { $0.value > now }
        return self.running.union(self.paused.keys)
    }

    /// Returns the time until the next try of an app whose work failed; `nil` if there is none.
    func timeUntilResumed(_ now: ContinuousClock.Instant) -> Duration? {
        self.paused.values.min().map { max(.zero, $0 - now) }
    }
}

/// The workers of one scheduler, shared by its tasks.
final class SharedScheduleWorkers: Sendable {
    private let workers = Mutex(ScheduleWorkers())

    var isFull: Bool { self.workers.withLock { $0.isFull } }
    var copy: ScheduleWorkers { self.workers.withLock { $0 } }

    /// Returns the apps that cannot start now; `nil` if none can.
    func unavailable(at now: ContinuousClock.Instant) -> Set<Int64>? {
        self.workers.withLock { $0.isFull ? nil : $0.unavailable(at: now) }
    }

    func start(_ app: Int64) -> Bool { self.workers.withLock { $0.start(app) } }

    func finish(_ app: Int64, pausedUntil: ContinuousClock.Instant?) {
        self.workers.withLock { $0.finish(app, pausedUntil: pausedUntil) }
    }
}

/// The due work of one app.
struct ScheduledWork: Sendable {
    var app: Int64
    var notifications: [NotificationRecord] = []
    var schedules: [ScheduleRecord] = []

    /// Groups due work by app, in the order in which it became due.
    static func byApp(_ notifications: [NotificationRecord], _ schedules: [ScheduleRecord]) -> [ScheduledWork] {
        var order: [Int64] = []
        var works: [Int64: ScheduledWork] = [:]
        func change(_ app: Int64, _ change: (inout ScheduledWork) -> Void) {
            if works[app] == nil { order.append(app) }
            change(&works[app, default: ScheduledWork(app: app)])
        }
        for notification in notifications { change(notification.app) { $0.notifications.append(notification) } }
        for schedule in schedules { change(schedule.app) { $0.schedules.append(schedule) } }
        return order.compactMap { works[$0] }
    }
}
