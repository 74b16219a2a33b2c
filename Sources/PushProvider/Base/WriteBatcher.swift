import Synchronization

/// Writes items in batches.
///
/// An item is written immediately if no other write is in progress. Items that arrive meanwhile share the next write.
final class WriteBatcher<Item: Sendable, Outcome: Sendable>: Sendable {
    private struct Waiting {
        let item: Item
        let waiter: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
    }

    private let write: @Sendable ([Item]) async -> [Outcome]
    private let state = Mutex(State())

    /// Creates a batcher. `write` writes the items of a batch, and returns their outcomes in the same order.
    init(write: @escaping @Sendable ([Item]) async -> [Outcome]) { self.write = write }

    var waitingCount: Int { self.state.withLock { $0.waiting.count } }

    /// Writes an item in a batch, and returns its outcome after the write.
    func commit(_ item: Item) async -> Outcome {
        await withCheckedContinuation { waiter in
            let isFirst = self.state.withLock { state in
                state.waiting.append(Waiting(item: item, waiter: waiter))
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

    /// Removes and returns all waiting items, or returns `nil` if there are none, which ends the write loop.
    private func next() -> [Waiting]? {
        self.state.withLock { state in
            state.isWriting = !state.waiting.isEmpty
            defer { state.waiting = [] }
            return state.waiting.isEmpty ? nil : state.waiting
        }
    }
}
