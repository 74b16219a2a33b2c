import Synchronization

/// Writes items in batches.
///
/// An item is written immediately if no other write is in progress. Items that arrive meanwhile share the next write,
/// except large ones, which share no write with others: the two take turns, and so do the apps of large items.
final class WriteBatcher<Item: Sendable, Outcome: Sendable>: Sendable {
    /// An item whose write takes long.
    struct Large {
        var size: Int
        var app: Int64
    }

    fileprivate struct Waiting {
        let item: Item
        let waiter: CheckedContinuation<Outcome, Never>
    }

    fileprivate struct State {
        var waiting: [Waiting] = []
        var large: [LargeQueue] = []
        var isWriting = false
        /// A Boolean value that indicates whether the last batch had large items.
        var wasLarge = false
    }

    /// The large items of an app that wait. The queues are in the order of their turns, and none is empty.
    fileprivate struct LargeQueue {
        let app: Int64
        var waiting: [(waiting: Waiting, size: Int)]
    }

    private let maximumSize: Int
    private let large: @Sendable (Item) -> Large?
    private let write: @Sendable ([Item]) async -> [Outcome]
    private let state = Mutex(State())

    /// Creates a batcher.
    /// - Parameters:
    ///   - maximumSize: The maximum total size of the large items in a batch. One that exceeds it is written alone.
    ///   - large: Returns the size and the app of a large item, or `nil` for any other.
    ///   - write: Writes the items of a batch, and returns their outcomes in the same order.
    init(
        maximumSize: Int = .max,
        large: @escaping @Sendable (Item) -> Large? = { _ in nil },
        write: @escaping @Sendable ([Item]) async -> [Outcome]
    ) {
        (self.maximumSize, self.large, self.write) = (maximumSize, large, write)
    }

    var waitingCount: Int {
        self.state.withLock { state in state.large.reduce(state.waiting.count) { $0 + $1.waiting.count } }
    }

    /// Writes an item in a batch, and returns its outcome after the write.
    func commit(_ item: Item) async -> Outcome {
        let large = self.large(item)
        return await withCheckedContinuation { waiter in
            let isFirst = self.state.withLock { state in
                state.add(Waiting(item: item, waiter: waiter), large)
                defer { state.isWriting = true }
                return !state.isWriting
            }
            // The write is not a part of the caller's task: the item is written even if the caller is cancelled.
            if isFirst { Task { await self.run() } }
        }
    }

    private func run() async {
        while let batch = self.next() {
            let outcomes = await self.write(batch.map(\.item))
            for (waiting, outcome) in zip(batch, outcomes) { waiting.waiter.resume(returning: outcome) }
        }
    }

    /// Removes and returns the items of the next batch, or returns `nil` if none wait, which ends the write loop.
    private func next() -> [Waiting]? {
        self.state.withLock { state in
            state.wasLarge = !state.large.isEmpty && (state.waiting.isEmpty || !state.wasLarge)
            if state.wasLarge { return state.takeLarge(self.maximumSize) }
            state.isWriting = !state.waiting.isEmpty
            defer { state.waiting = [] }
            return state.waiting.isEmpty ? nil : state.waiting
        }
    }
}

extension WriteBatcher.State {
    fileprivate mutating func add(_ new: WriteBatcher.Waiting, _ large: WriteBatcher.Large?) {
        guard let large else { return self.waiting.append(new) }
        if let index = self.large.firstIndex(where: { $0.app == large.app }) {
            self.large[index].waiting.append((new, large.size))
        } else {
            self.large.append(.init(app: large.app, waiting: [(new, large.size)]))
        }
    }

    /// Removes and returns large items, one of each app in turn, up to a total size. It is at least one.
    fileprivate mutating func takeLarge(_ maximum: Int) -> [WriteBatcher.Waiting] {
        var (taken, total): ([WriteBatcher.Waiting], Int) = ([], 0)
        while let size = self.large.first?.waiting.first?.size, taken.isEmpty || size <= maximum - total {
            var queue = self.large.removeFirst()
            taken.append(queue.waiting.removeFirst().waiting)
            total += size
            if !queue.waiting.isEmpty { self.large.append(queue) }
        }
        return taken
    }
}
