import ProviderModel
import Synchronization

/// Tracks the apps whose scheduled work is in progress.
///
/// The work of an app runs in one task, so that an app whose audiences take long to count delays only its own runs.
/// Apps take turns: after its turn, an app waits until every other app with due work has had one.
final class ScheduleWorkers: Sendable {
    /// The maximum number of apps whose work is in progress at the same time. The others wait for their turn.
    static let maximum = 8

    private struct State {
        var running: Set<Int64> = []
        /// The apps that had their turn in this round.
        var served: Set<Int64> = []
        /// The apps whose work failed, and the times of their next attempts.
        var paused: [Int64: ContinuousClock.Instant] = [:]

        var isFull: Bool { self.running.count >= ScheduleWorkers.maximum }
    }

    private let state = Mutex(State())

    var isFull: Bool { self.state.withLock { $0.isFull } }

    /// Starts the turn of an app.
    /// - Returns: `true` if it was started, and `false` if the app's work, or that of too many others, is in progress.
    func start(_ app: Int64) -> Bool { self.state.withLock { !$0.isFull && $0.running.insert(app).inserted } }

    /// Ends the turn of an app.
    /// - Parameter pausedUntil: The time of the next attempt, or `nil` if nothing failed.
    func finish(_ app: Int64, pausedUntil: ContinuousClock.Instant?) {
        self.state.withLock { state in
            state.running.remove(app)
            state.served.insert(app)
            state.paused[app] = pausedUntil
        }
    }

    /// Returns the apps whose work cannot start now, or `nil` if no work can start.
    func unavailable(at now: ContinuousClock.Instant) -> Set<Int64>? {
        self.state.withLock { state in
            guard !state.isFull else { return nil }
            state.paused = state.paused.filter { $0.value > now }
            return state.running.union(state.served).union(state.paused.keys)
        }
    }

    /// Begins the next round after all apps with due work have had their turn.
    /// - Returns: `true` if it was begun, and `false` if no app had a turn in the last round.
    func beginRound() -> Bool {
        self.state.withLock { state in
            defer { state.served = [] }
            return !state.served.isEmpty
        }
    }

    /// Returns the time until the next attempt of an app whose work failed, or `nil` if no app is paused.
    func timeUntilResumed(_ now: ContinuousClock.Instant) -> Duration? {
        self.state.withLock { $0.paused.values.min().map { max(.zero, $0 - now) } }
    }
}

struct DueWork: Sendable {
    var app: Int64
    var notifications: [NotificationRecord] = []
    var schedules: [ScheduleRecord] = []

    /// Groups due work by app, in the order in which it became due.
    static func byApp(_ notifications: [NotificationRecord], _ schedules: [ScheduleRecord]) -> [DueWork] {
        var order: [Int64] = []
        var works: [Int64: DueWork] = [:]
        func change(_ app: Int64, _ change: (inout DueWork) -> Void) {
            if works[app] == nil { order.append(app) }
            change(&works[app, default: DueWork(app: app)])
        }
        for notification in notifications { change(notification.app) { $0.notifications.append(notification) } }
        for schedule in schedules { change(schedule.app) { $0.schedules.append(schedule) } }
        return order.compactMap { works[$0] }
    }
}
