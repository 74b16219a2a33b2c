import Logging
import Metrics
import PushStore
import ServiceLifecycle

/// A service that bounds the length of the write-ahead log of an idle store by checkpoints. It counts the checkpoints,
/// and logs a warning if a snapshot of another process prevents them. A store that is being written bounds the log
/// itself.
struct WALMonitor: Service {
    /// The length of the log above which a checkpoint runs, in bytes.
    private static let foldLength = 64 * 1024 * 1024
    /// The length of the log above which a warning is logged after a checkpoint, in bytes.
    private static let warningLength = 256 * 1024 * 1024
    private static let pause: Duration = .seconds(1)
    private static let warningInterval: Duration = .seconds(60)

    private let store: SQLStore
    private let logger: Logger
    private let checkpoints: Counter
    private let unfinished: Counter

    init(store: SQLStore, metrics: any MetricsFactory, logger: Logger) {
        (self.store, self.logger) = (store, logger)
        self.checkpoints = Counter(label: "martlet_store_wal_folds", dimensions: [], factory: metrics)
        self.unfinished = Counter(label: "martlet_store_wal_folds_unfinished", dimensions: [], factory: metrics)
    }

    func run() async {
        await cancelWhenGracefulShutdown {
            var warnedAt: ContinuousClock.Instant?
            var counted = (complete: 0, prevented: 0)
            while !Task.isCancelled {
                var length = self.store.logBytes
                if length > Self.foldLength {
                    await self.store.foldLongLog()
                    length = self.store.logBytes
                }
                let folds = self.store.logFolds
                self.checkpoints.increment(by: folds.complete - counted.complete)
                self.unfinished.increment(by: folds.prevented - counted.prevented)
                counted = folds
                if length > Self.warningLength, warnedAt.map({ .now - $0 >= Self.warningInterval }) ?? true {
                    warnedAt = .now
                    let message: Logger.Message = "write-ahead log grows: a backup or a check may hold an old snapshot"
                    self.logger.warning(message, metadata: ["bytes": "\(length)"])
                }
                try? await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }
}
