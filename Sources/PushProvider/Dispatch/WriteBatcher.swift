/// Writes items in batches.
///
/// Each item is written as soon as the disk is free. Items that arrive while it is busy share one transaction.
actor WriteBatcher<Item: Sendable, Outcome: Sendable> {
    private let write: @Sendable ([Item]) async -> [Outcome]
    private(set) var waiting: [(item: Item, waiter: CheckedContinuation<Outcome, Never>)] = []
    private var isWriting = false

    /// - Parameter write: Returns the outcome of each item, in their order.
    init(write: @escaping @Sendable ([Item]) async -> [Outcome]) { self.write = write }

    /// Writes an item. Returns once it is on disk.
    func commit(_ item: Item) async -> Outcome {
        await withCheckedContinuation { waiter in
            self.waiting.append((item, waiter))
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.run() }
        }
    }

    private func run() async {
        while !self.waiting.isEmpty {
            let batch = self.waiting
            self.waiting = []
            let outcomes = await self.write(batch.map(\.item))
            for ((_, waiter), outcome) in zip(batch, outcomes) { waiter.resume(returning: outcome) }
        }
        self.isWriting = false
    }
}
