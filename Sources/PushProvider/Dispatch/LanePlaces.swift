import Synchronization

/// How much of a lane is under way, and of which apps.
final class LanePlaces: Sendable {
    private struct State {
        var running = 0
        var byApp: [Int64: Int] = [:]
        var retryingByApp: [Int64: Int] = [:]
    }

    private let state = Mutex(State())

    var running: Int { self.state.withLock { $0.running } }
    var retrying: Int { self.state.withLock { $0.retryingByApp.values.reduce(0, +) } }
    var isBusy: Bool { self.state.withLock { $0.running > 0 || !$0.retryingByApp.isEmpty } }

    /// The apps that have this many places or more.
    func apps(with count: Int) -> Set<Int64> {
        self.state.withLock { state in Set(state.byApp.filter { $0.value >= count }.keys) }
    }

    /// The apps that have this many pages of retries or more.
    func appsRetrying(with count: Int) -> Set<Int64> {
        self.state.withLock { state in Set(state.retryingByApp.filter { $0.value >= count }.keys) }
    }

    func start(_ app: Int64) {
        self.state.withLock { state in
            state.running += 1
            state.byApp[app, default: 0] += 1
        }
    }

    func end(_ app: Int64) {
        self.state.withLock { state in
            state.running -= 1
            Self.takeOne(of: app, from: &state.byApp)
        }
    }

    func startRetry(_ app: Int64) { self.state.withLock { $0.retryingByApp[app, default: 0] += 1 } }
    func endRetry(_ app: Int64) { self.state.withLock { Self.takeOne(of: app, from: &$0.retryingByApp) } }

    private static func takeOne(of app: Int64, from counts: inout [Int64: Int]) {
        let left = (counts[app] ?? 1) - 1
        counts[app] = left > 0 ? left : nil
    }
}
