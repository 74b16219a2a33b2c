import PushStore
import Synchronization

/// The apps whose scheduled work is being done: each has one lane, so that an app whose audiences take long to count delays
/// its own runs only.
struct ScheduleWorkers {
    /// Apps at the same time.
    static let maximum = 8

    private var running: Set<Int64> = []
    /// Apps with work that failed, and when they have another turn.
    private var resting: [Int64: ContinuousClock.Instant] = [:]

    var isFull: Bool { self.running.count >= Self.maximum }

    /// - Returns: `false` if the app has its turn already, or too many others have.
    mutating func begin(_ app: Int64) -> Bool {
        guard !self.isFull else { return false }
        return self.running.insert(app).inserted
    }

    /// - Parameter restsUntil: when what failed is tried again; `nil` if nothing failed.
    mutating func ended(_ app: Int64, restsUntil: ContinuousClock.Instant?) {
        self.running.remove(app)
        self.resting[app] = restsUntil
    }

    /// Apps that cannot begin now.
    mutating func unavailable(at now: ContinuousClock.Instant) -> Set<Int64> {
        self.resting = self.resting.filter { $0.value > now }
        return self.running.union(self.resting.keys)
    }

    /// The time until an app has rested; `nil` if none rests.
    func untilRested(_ now: ContinuousClock.Instant) -> Duration? {
        self.resting.values.min().map { max(.zero, $0 - now) }
    }
}

/// The lanes of a runner, shared with the turns.
final class SharedScheduleWorkers: Sendable {
    private let lanes = Mutex(ScheduleWorkers())

    var isFull: Bool { self.lanes.withLock { $0.isFull } }
    var copy: ScheduleWorkers { self.lanes.withLock { $0 } }

    /// Apps that cannot begin now; `nil` if none can.
    func unavailable(at now: ContinuousClock.Instant) -> Set<Int64>? {
        self.lanes.withLock { $0.isFull ? nil : $0.unavailable(at: now) }
    }

    func begin(_ app: Int64) -> Bool { self.lanes.withLock { $0.begin(app) } }

    func ended(_ app: Int64, restsUntil: ContinuousClock.Instant?) {
        self.lanes.withLock { $0.ended(app, restsUntil: restsUntil) }
    }
}

/// The due work of one app.
struct ScheduledWork: Sendable {
    var app: Int64
    var notifications: [NotificationRecord] = []
    var schedules: [ScheduleRecord] = []

    /// By app, in the order of what is due first.
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
