import Synchronization

/// Publishes events to watchers as they are logged. Each watcher has a bounded buffer. A slow one misses events, which
/// it notices by the gaps in their ids.
final class EventStream: Sendable {
    /// The maximum number of groups of events that wait for a slow watcher. Beyond it, the oldest groups are dropped.
    static let buffer = 1000
    /// The maximum number of watchers at a time, beyond which ``watch()`` returns `nil`.
    static let maximumWatchers = 32

    /// A subscriber to the events. Each element of its stream is a group of events. At intervals, ``remind()`` sends an
    /// empty group.
    struct Watcher: Sendable {
        let events: AsyncStream<[Event]>
        fileprivate let continuation: AsyncStream<[Event]>.Continuation

        func remind() { self.continuation.yield([]) }
        func end() { self.continuation.finish() }
    }

    private struct State {
        var watchers: [UInt64: AsyncStream<[Event]>.Continuation] = [:]
        var next: UInt64 = 0
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let watching = Atomic<Int>(0)

    var count: Int { self.watching.load(ordering: .relaxed) }

    /// Adds a watcher, which is removed when its stream finishes or is no longer read.
    /// - Returns: The watcher, or `nil` if there are ``maximumWatchers``, or after ``finish()``.
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
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return Watcher(events: stream, continuation: continuation)
    }

    /// Publishes events to all watchers. This method must be called in the order of the events' ids.
    func publish(_ events: [Event]) {
        guard self.watching.load(ordering: .relaxed) > 0 else { return }
        let watchers = self.state.withLock { Array($0.watchers.values) }
        for watcher in watchers { watcher.yield(events) }
    }

    /// Finishes the streams of all watchers. No watcher can be added afterwards.
    func finish() {
        let watchers = self.state.withLock { state in
            state.hasEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func remove(_ id: UInt64) {
        if self.state.withLock({ $0.watchers.removeValue(forKey: id) }) != nil {
            self.watching.subtract(1, ordering: .relaxed)
        }
    }
}
