import PushStore

/// Checks that the store can be read and written. The check runs at most once a second, however many requests arrive.
actor ReadyProbe {
    /// The time for which the result of a check is reused.
    static let lifetime: Duration = .seconds(1)

    private let probe: @Sendable () async throws -> Void
    private let clock: @Sendable () -> ContinuousClock.Instant
    private var last: (at: ContinuousClock.Instant, result: Result<Void, any Error>)?
    private var running: Task<Void, any Error>?

    /// Creates a probe.
    /// - Parameters:
    ///   - clock: A monotonic clock, by which the age of the last result is measured.
    ///   - probe: The closure that throws an error if the store is not ready.
    init(
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        probe: @escaping @Sendable () async throws -> Void
    ) {
        (self.probe, self.clock) = (probe, clock)
    }

    init(store: any AppStore & MaintenanceStore) {
        self.init {
            _ = try await store.apps()
            try await store.checkWritable()
        }
    }

    /// Checks the store, or reuses the result of the last check if it is at most a second old.
    /// - Throws: ``StoreError/cannotWrite(why:)`` if the store is not ready.
    func check() async throws {
        if let last, self.clock() < last.at + Self.lifetime { return try last.result.get() }
        if let running { return try await running.value }
        let probe = Task { [probe = self.probe] in
            do {
                try await probe()
            } catch StoreError.cannotWrite(let why), StoreError.unavailable(let why) {
                throw StoreError.cannotWrite(why: why)
            } catch {
                throw StoreError.cannotWrite(why: "\(error)")
            }
        }
        self.running = probe
        let result = await probe.result
        self.running = nil
        self.last = (self.clock(), result)
        try result.get()
    }
}
