import Logging
import Metrics
import PushStore
import ServiceLifecycle

/// Looks after the log beside the database: folds it before it grows without bound, and says so where that fails.
struct WALMonitor: Sendable {
    struct Limits: Hashable, Sendable {
        /// Longer than this, the log is folded, in bytes. Twice what the writer folds by itself.
        var fold = 64 * 1024 * 1024
        /// Longer than this after it was folded, it is worth a line in the log of the process.
        var warning = 256 * 1024 * 1024
        var pause: Duration = .seconds(1)
    }

    /// Between two lines that say the same.
    private static let silence: Duration = .seconds(60)

    let store: SQLiteStore
    let limits: Limits
    let logger: Logger
    private let folds: Counter
    private let unfinished: Counter

    init(store: SQLiteStore, limits: Limits = Limits(), metrics: any MetricsFactory, logger: Logger) {
        self.store = store
        self.limits = limits
        self.logger = logger
        self.folds = Counter(label: "martlet_store_wal_folds", dimensions: [], factory: metrics)
        self.unfinished = Counter(label: "martlet_store_wal_folds_unfinished", dimensions: [], factory: metrics)
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var warnedAt: ContinuousClock.Instant?
            while !Task.isCancelled {
                let left = await self.step()
                if left > self.limits.warning, warnedAt.map({ .now - $0 >= Self.silence }) ?? true {
                    warnedAt = .now
                    self.logger.warning(
                        "the log beside the database grows: an old snapshot is held, by a backup or a check perhaps",
                        metadata: ["bytes": "\(left)"]
                    )
                }
                try? await Task.sleep(for: self.limits.pause, clock: .continuous)
            }
        }
    }

    /// - Returns: the length of the log now, in bytes.
    func step() async -> Int {
        let length = self.store.logBytes
        guard length > self.limits.fold else { return length }
        do {
            let left = try await self.store.foldLog()
            self.folds.increment()
            if left > self.limits.fold { self.unfinished.increment() }
            return left
        } catch {
            self.logger.error("the log beside the database could not be folded", metadata: ["error": "\(error)"])
            return length
        }
    }
}
