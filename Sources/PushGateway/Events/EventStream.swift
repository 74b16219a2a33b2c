import Synchronization

/// Those who watch events as they happen. Each has a bounded buffer; one that falls behind misses events and is told.
final class EventStream: Sendable {
    /// Events that wait for a slow watcher.
    static let buffer = 10_000
    /// Watchers at the same time.
    static let maximumWatchers = 32

    private struct State {
        var watchers: [UInt64: AsyncStream<[Event]>.Continuation] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    private let watching = Atomic<Int>(0)

    /// `nil` when there are too many watchers. The stream ends with the gateway, or when its reader goes away.
    func watch() -> AsyncStream<[Event]>? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [Event].self,
            bufferingPolicy: .bufferingNewest(Self.buffer)
        )
        let id: UInt64? = self.state.withLock { state in
            guard state.watchers.count < Self.maximumWatchers else { return nil }
            state.next += 1
            state.watchers[state.next] = continuation
            return state.next
        }
        guard let id else { return nil }
        self.watching.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        return stream
    }

    func publish(_ events: [Event]) {
        guard self.watching.load(ordering: .relaxed) > 0 else { return }
        let watchers = self.state.withLock { Array($0.watchers.values) }
        for watcher in watchers { watcher.yield(events) }
    }

    func finish() {
        let watchers = self.state.withLock { Array($0.watchers.values) }
        for watcher in watchers { watcher.finish() }
    }

    private func forget(_ id: UInt64) {
        if self.state.withLock({ $0.watchers.removeValue(forKey: id) }) != nil {
            self.watching.subtract(1, ordering: .relaxed)
        }
    }
}
