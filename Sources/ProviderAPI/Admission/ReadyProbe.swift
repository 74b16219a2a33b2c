import PushStore

/// A probe that tells whether the store can be read and written. It runs once a second at most, however many requests ask.
actor ReadyProbe {
    /// The time for which a result is remembered.
    static let memory: Duration = .seconds(1)

    private let probe: @Sendable () async throws -> Void
    private let clock: @Sendable () -> ContinuousClock.Instant
    private var last: (at: ContinuousClock.Instant, outcome: Result<Void, any Error>)?
    private var running: Task<Void, any Error>?

    /// - Parameters:
    ///   - probe: finds out; throws if it is not ready.
    ///   - clock: monotonic.
    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        probe: @escaping @Sendable () async throws -> Void
    ) {
        self.probe = probe
        self.clock = clock
    }

    /// Reads and writes something.
    init(store: any ProviderStore) {
        self.init {
            _ = try await store.apps()
            try await store.checkWritable()
        }
    }

    /// - Throws: ``StoreError/cannotWrite(why:)``.
    func check() async throws {
        if let last, self.clock() < last.at + Self.memory { return try last.outcome.get() }
        if let running { return try await running.value }
        let probe = Task { [probe = self.probe] in
            do {
                try await probe()
            } catch {
                throw StoreError.cannotWrite(why: "\(error)")
            }
        }
        self.running = probe
        let outcome = await probe.result
        self.running = nil
        self.last = (self.clock(), outcome)
        try outcome.get()
    }
}
