package import Logging
package import PushStore
import ServiceLifecycle

/// Writes the statistics for charts once a second. The store collects them in memory.
package struct StatisticsWriter: Service {
    /// The time between two writes. A process that is killed loses at most the statistics of that time.
    private static let interval: Duration = .seconds(1)

    private let store: any StatisticsStore
    private let logger: Logger

    package init(store: any StatisticsStore, logger: Logger) { (self.store, self.logger) = (store, logger) }

    /// Writes statistics until graceful shutdown. Later statistics are written when the store is closed.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            repeat { await self.write() } while await wake.wait(atMost: Self.interval)
        }
    }

    private func write() async {
        do {
            try await self.store.writeStatistics()
        } catch {
            self.logger.error("the numbers of charts could not be written", metadata: ["error": "\(error)"])
        }
    }
}
