import Logging
import PushSupport
import ServiceLifecycle
import Synchronization

/// A service that logs requests whose API key was refused, in one summary per minute, so that an attack or a forgotten
/// key causes only a few lines.
final class RefusedKeyLog: Service {
    private static let interval: Duration = .seconds(60)
    /// The maximum number of lines in a summary, each with the count of one kind of requests. One further line has the
    /// count of all others.
    private static let maximumLines = 10

    /// The requests that are counted together: those with the same status and key.
    private struct Kind: Hashable {
        var status: Int
        /// The name of a key that does not allow the request, or `nil` for a request without a valid key.
        var key: String?
    }

    private let logger: Logger
    private let tally = Mutex(SummaryTally<Kind>(maximumKeys: RefusedKeyLog.maximumLines))

    init(logger: Logger) { self.logger = logger }

    /// Counts a request if its status means that its key was refused. Otherwise, does nothing.
    /// - Parameter key: The name of the key, or `nil` for a request without a valid key.
    func note(status: Int, key: String?) {
        guard status == 401 || status == 403 else { return }
        self.tally.withLock { $0.add(Kind(status: status, key: key)) }
    }

    /// Writes a summary every minute until shutdown, and a last one.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval, clock: .continuous)
                self.summarize()
            }
        }
    }

    func summarize() {
        let (sums, others) = self.tally.withLock { $0.take() }
        for (kind, count) in sums {
            var metadata: Logger.Metadata = ["status": "\(kind.status)", "count": "\(count)"]
            metadata["key"] = kind.key.map { "\($0)" }
            self.logger.warning("API keys were refused", metadata: metadata)
        }
        if others > 0 { self.logger.warning("further API keys were refused", metadata: ["count": "\(others)"]) }
    }
}
