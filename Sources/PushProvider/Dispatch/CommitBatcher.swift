import PushStore

/// Writes what single notifications came to together with whatever else ends while the disk is busy: each is written as
/// soon as it can be, and many cost one transaction.
actor CommitBatcher {
    private let write: @Sendable ([PageResult]) async -> Void
    private var waiting: [(result: PageResult, waiter: CheckedContinuation<Void, Never>)] = []
    private var isWriting = false

    init(write: @escaping @Sendable ([PageResult]) async -> Void) {
        self.write = write
    }

    /// Returns when it is written.
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
            let group = self.waiting
            self.waiting = []
            await self.write(group.map(\.result))
            for (_, waiter) in group { waiter.resume() }
        }
        self.isWriting = false
    }
}
