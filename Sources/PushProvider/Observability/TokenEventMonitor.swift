package import Logging
package import Metrics
import ProviderModel
package import PushStore
import PushSupport
import PushTypes
import ServiceLifecycle

/// Counts the changes of tokens that the store has recorded, in `martlet_token_changes` by app, environment, action and
/// reason. Once a minute it logs the number of deactivations for each of these combinations.
package struct TokenEventMonitor: Service {
    private static let interval: Duration = .seconds(10)
    /// The number of counts, one every 10 seconds, after which a summary is logged: once a minute.
    private static let countsPerSummary = 6
    /// The maximum number of lines of one summary. Further combinations are counted together in one more line.
    private static let maximumLines = 20
    /// The changes that are logged: deactivations of tokens, and those that were withheld.
    private static let logged: Set<TokenEventRecord.Action> = [.deactivated, .withheld]

    struct State {
        /// The number of the last event that was counted, or `nil` to begin with the next event.
        var last: Int64?
        var summary = SummaryTally<TokenEventCount>(maximumKeys: TokenEventMonitor.maximumLines)
    }

    private let store: any MonitoringStore
    private let metrics: any MetricsFactory
    private let logger: Logger

    package init(store: any MonitoringStore, metrics: any MetricsFactory, logger: Logger) {
        (self.store, self.metrics, self.logger) = (store, metrics, logger)
    }

    /// Counts the changes every 10 seconds until graceful shutdown.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            var (state, counts) = (State(), 0)
            repeat {
                await self.count(&state)
                counts += 1
                if counts % Self.countsPerSummary == 0 { self.summarize(&state) }
            } while await wake.wait(atMost: Self.interval)
            await self.count(&state)
            self.summarize(&state)
        }
    }

    func summarize(_ state: inout State) {
        let (sums, others) = state.summary.take()
        for (kind, count) in sums {
            var metadata: Logger.Metadata = [
                "app": "\(kind.app)", "environment": "\(kind.environment.rawValue)", "count": "\(count)",
            ]
            metadata["reason"] = kind.reason.map { "\($0)" }
            if kind.action == .withheld {
                self.logger.warning("deactivations of tokens were withheld", metadata: metadata)
            } else {
                self.logger.info("tokens were deactivated", metadata: metadata)
            }
        }
        if others > 0 { self.logger.info("further tokens were deactivated", metadata: ["count": "\(others)"]) }
    }

    /// Counts the events since the last call, in the metric and for the next summary.
    func count(_ state: inout State) async {
        do {
            while true {
                let (counts, end) = try await self.store.tokenEvents(after: state.last)
                for count in counts {
                    let count = count.bounded
                    self.add(count)
                    guard Self.logged.contains(count.action) else { continue }
                    var kind = count
                    kind.count = 0
                    state.summary.add(kind, count: count.count)
                }
                state.last = end
                if counts.isEmpty { return }
            }
        } catch {
            guard !Task.isCancelled else { return }
            self.logger.error("changes of tokens cannot be counted, trying again", metadata: ["error": "\(error)"])
        }
    }

    private func add(_ count: TokenEventCount) {
        var dimensions = [
            ("app", count.app), ("environment", count.environment.rawValue), ("action", count.action.rawValue),
        ]
        if let reason = count.reason { dimensions.append(("reason", reason)) }
        Counter(label: "martlet_token_changes", dimensions: dimensions, factory: self.metrics)
            .increment(by: count.count)
    }
}

extension TokenEventCount {
    /// The count with a reason from a limited set of values, so that the metric has few series.
    fileprivate var bounded: TokenEventCount {
        var count = self
        count.reason = self.reason.map { Reason(rawValue: $0)?.text ?? "other" }
        return count
    }
}
