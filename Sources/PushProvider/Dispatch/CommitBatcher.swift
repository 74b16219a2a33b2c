import PushStore

/// Writes the results of urgent notifications in batches.
///
/// Each result is written as soon as the disk is free. Results that arrive while it is busy share one transaction.
actor CommitBatcher {
    private let write: @Sendable ([PageResult]) async -> Void
    private var waiting: [(result: PageResult, waiter: CheckedContinuation<Void, Never>)] = []
    private var isWriting = false

    init(write: @escaping @Sendable ([PageResult]) async -> Void) { self.write = write }

    /// Writes a result. Returns once it is on disk.
    func commit(_ result: PageResult) async {
        await withCheckedContinuation { waiter in
            self.waiting.append((result, waiter))
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.run() }
        }
    }

    private func run() async {
        while !self.waiting.isEmpty {
            let batch = self.waiting
            self.waiting = []
            await self.write(batch.map(\.result))
            for (_, waiter) in batch { waiter.resume() }
        }
        self.isWriting = false
    }
}
