import PushHTTP
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The provider's metrics: gauges that are read from the store at each request, and the counters of the registry.
struct ProviderMetrics: Sendable {
    private let gauges = GaugeRegistry()
    private let registry: PrometheusRegistry

    /// - Parameter registry: The counters, which follow the gauges in the text.
    init(
        registry: PrometheusRegistry,
        store: SQLiteStore,
        unauthenticated: UnauthenticatedConnections,
        time: any TimeSource
    ) {
        self.registry = registry
        let (gauges, statistics) = (self.gauges, StatisticsCache(store: store, time: time))
        func add(_ name: String, _ help: String, _ value: any KeyPath<StoreStatistics, Int> & Sendable) {
            gauges.add(name, help) { try await statistics.latest()[keyPath: value] }
        }
        gauges.add("martlet_build_info", "The running version.", labels: ["version": RESTAPI.version]) { 1 }
        gauges.addProcessMemory()
        gauges.add("martlet_notifications", "Notifications that have not ended, by state.") {
            let counts = try await statistics.latest().notifications
            return NotificationRecord.State.allCases.filter { $0 != .done && $0 != .cancelled }.map {
                GaugeRegistry.Sample(labels: ["state": $0.rawValue], value: counts[$0] ?? 0)
            }
        }
        add("martlet_retries", "Recipients that wait for a retry.", \.retries)
        gauges.add("martlet_retry_lag_seconds", "Time since the oldest due retry became due.") {
            let due = try await statistics.latest().oldestRetryDueAt
            return due.map { max(0, Int(time.steady.since($0).components.seconds)) } ?? 0
        }
        add("martlet_shards_leased", "Shards that are being sent.", \.shardsLeased)
        add("martlet_shards_waiting", "Shards that are neither done nor being sent.", \.shardsWaiting)
        add("martlet_tokens_deactivated", "Devices with an invalid token.", \.tokensDeactivated)
        add("martlet_tokens_withheld", "Deactivations that wait for a decision.", \.tokensWithheld)
        add("martlet_webhook_backlog", "Blocks of events that the slowest webhook has not accepted.", \.webhookBacklog)
        gauges.add("martlet_store_wal_bytes", "Length of the write-ahead log.") { store.logBytes }
        gauges.add("martlet_queries_running", "Long queries that run.") { store.queryCounts.running }
        gauges.add("martlet_queries_waiting", "Long queries that wait for their turn.") { store.queryCounts.waiting }
        let help = "Connections to the API that have shown no valid key."
        gauges.add("martlet_api_unauthenticated_connections", help) { unauthenticated.count }
        gauges.add("martlet_api_unauthenticated_bytes", "Bytes that these connections hold.") { unauthenticated.bytes }
    }

    /// Returns all metrics in the text format of Prometheus.
    func text() async throws -> String {
        try await self.gauges.text() + self.registry.text
    }
}

/// A copy of the store's statistics that serves all gauges of one request.
private final class StatisticsCache: Sendable {
    private static let lifetime: Duration = .seconds(1)

    private let store: any MaintenanceStore
    private let time: any TimeSource
    private let last = Mutex<(at: Timestamp, statistics: StoreStatistics)?>(nil)

    init(store: any MaintenanceStore, time: any TimeSource) {
        (self.store, self.time) = (store, time)
    }

    /// Returns statistics that are at most ``lifetime`` old.
    func latest() async throws -> StoreStatistics {
        let now = self.time.steady
        if let last = self.last.withLock({ $0 }), now >= last.at, now.since(last.at) < Self.lifetime {
            return last.statistics
        }
        let statistics = try await self.store.statistics(now: now)
        self.last.withLock { $0 = (now, statistics) }
        return statistics
    }
}
