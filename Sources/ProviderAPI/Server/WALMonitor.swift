import Logging
import Metrics
import PushStore
import ServiceLifecycle

/// Checkpoints the write-ahead log before it grows without bound, and logs a warning where that fails.
struct WALMonitor: Service {
    /// The length from which the log is checkpointed, in bytes. It is twice that of the automatic checkpoint.
    private static let checkpointLength = 64 * 1024 * 1024
    /// The length from which a checkpointed log causes a warning, in bytes.
    private static let warningLength = 256 * 1024 * 1024
    /// The time between two checks.
    private static let pause: Duration = .seconds(1)
    /// The shortest time between two warnings.
    private static let warningInterval: Duration = .seconds(60)

    private let store: SQLiteStore
    private let logger: Logger
    private let checkpoints: Counter
    private let unfinished: Counter

    init(store: SQLiteStore, metrics: any MetricsFactory, logger: Logger) {
        (self.store, self.logger) = (store, logger)
        self.checkpoints = Counter(label: "martlet_store_wal_folds", dimensions: [], factory: metrics)
        self.unfinished = Counter(label: "martlet_store_wal_folds_unfinished", dimensions: [], factory: metrics)
    }

    /// Checks the log until shutdown.
    func run() async {
        await cancelWhenGracefulShutdown {
            var warnedAt: ContinuousClock.Instant?
            while !Task.isCancelled {
                let length = await self.check()
                if length > Self.warningLength, warnedAt.map({ .now - $0 >= Self.warningInterval }) ?? true {
                    warnedAt = .now
                    let message: Logger.Message = "write-ahead log grows: a backup or a check may hold an old snapshot"
                    self.logger.warning(message, metadata: ["bytes": "\(length)"])
                }
                try? await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }

    /// Checkpoints the log if it is too long.
    ///
    /// - Returns: The length of the log after that, in bytes.
    func check() async -> Int {
        let length = self.store.logBytes
        guard length > Self.checkpointLength else { return length }
        do {
            let remaining = try await self.store.foldLog()
            self.checkpoints.increment()
            if remaining > Self.checkpointLength { self.unfinished.increment() }
            return remaining
        } catch {
            self.logger.error("write-ahead log could not be checkpointed", metadata: ["error": "\(error)"])
            return length
        }
    }
}
