import Synchronization

/// How much of a lane is under way, and of which apps.
final class LanePlaces: Sendable {
    private struct State {
        var running = 0
        var byApp: [Int64: Int] = [:]
        var retrying = 0
    }

    private let state = Mutex(State())

    var running: Int { self.state.withLock { $0.running } }
    var retrying: Int { self.state.withLock { $0.retrying } }
    var isBusy: Bool { self.state.withLock { $0.running > 0 || $0.retrying > 0 } }

    /// The apps that have this many places or more.
    func apps(with count: Int) -> Set<Int64> {
        self.state.withLock { state in Set(state.byApp.filter { $0.value >= count }.keys) }
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
            let left = (state.byApp[app] ?? 1) - 1
            state.byApp[app] = left > 0 ? left : nil
        }
    }

    func startRetry() { self.state.withLock { $0.retrying += 1 } }
    func endRetry() { self.state.withLock { $0.retrying -= 1 } }
}
