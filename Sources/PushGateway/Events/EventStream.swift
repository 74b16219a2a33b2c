import Synchronization

/// Those who watch events as they happen. Each has a bounded buffer; one that falls behind misses events, which it can
/// tell by their ids.
final class EventStream: Sendable {
    /// Groups of events that wait for a slow watcher; the oldest go first.
    static let buffer = 1000
    /// Watchers at the same time.
    static let maximumWatchers = 32

    /// One who watches. An empty group is a reminder that time has passed.
    struct Watcher: Sendable {
        let events: AsyncStream<[Event]>
        fileprivate let continuation: AsyncStream<[Event]>.Continuation

        func remind() { self.continuation.yield([]) }
        /// Nothing more comes after what is in the buffer.
        func end() { self.continuation.finish() }
    }

    private struct State {
        var watchers: [UInt64: AsyncStream<[Event]>.Continuation] = [:]
        var next: UInt64 = 0
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let watching = Atomic<Int>(0)

    /// Those who watch now.
    var count: Int { self.watching.load(ordering: .relaxed) }

    /// `nil` when there are too many watchers. It is forgotten when it ends, or when nobody reads its events any more.
    func watch() -> Watcher? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [Event].self,
            bufferingPolicy: .bufferingNewest(Self.buffer)
        )
        let id: UInt64? = self.state.withLock { state in
            guard state.watchers.count < Self.maximumWatchers, !state.hasEnded else { return nil }
            state.next += 1
            state.watchers[state.next] = continuation
            return state.next
        }
        guard let id else { return nil }
        self.watching.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        return Watcher(events: stream, continuation: continuation)
    }

    /// Called in the order of the events' ids.
    func publish(_ events: [Event]) {
        guard self.watching.load(ordering: .relaxed) > 0 else { return }
        let watchers = self.state.withLock { Array($0.watchers.values) }
        for watcher in watchers { watcher.yield(events) }
    }

    func finish() {
        let watchers = self.state.withLock { state in
            state.hasEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func forget(_ id: UInt64) {
        if self.state.withLock({ $0.watchers.removeValue(forKey: id) }) != nil {
            self.watching.subtract(1, ordering: .relaxed)
        }
    }
}
