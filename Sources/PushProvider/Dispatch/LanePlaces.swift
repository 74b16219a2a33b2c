import Synchronization

/// How much of a lane is under way.
final class LanePlaces: Sendable {
    private struct State {
        var running = 0
        var isRetrying = false
    }

    private let state = Mutex(State())

    var running: Int { self.state.withLock { $0.running } }
    var isBusy: Bool { self.state.withLock { $0.running > 0 || $0.isRetrying } }
    var canRetry: Bool { self.state.withLock { !$0.isRetrying } }

    func start() { self.state.withLock { $0.running += 1 } }
    func end() { self.state.withLock { $0.running -= 1 } }
    func startRetry() { self.state.withLock { $0.isRetrying = true } }
    func endRetry() { self.state.withLock { $0.isRetrying = false } }
}
