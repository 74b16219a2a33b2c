import PushHTTP
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The provider's metrics: gauges that are read from the store at each request, and the counters of the registry.
struct ProviderMetrics: Sendable {
    private let gauges = GaugeRegistry()
    private let registry: PrometheusRegistry

    init(
        registry: PrometheusRegistry,
        store: SQLiteStore,
        unauthenticated: UnauthenticatedConnections,
        time: any TimeSource
    ) {
        self.registry = registry
        self.gauges.add(.buildInfo, ["version": RESTAPI.version]) { 1 }
        self.gauges.add(.memory) { ProcessMemory.resident.map { [GaugeRegistry.Sample(value: $0)] } ?? [] }
        let statistics = StatisticsCache(store: store, time: time)
        self.gauges.add(.notifications) {
            let counts = try await statistics.latest().notifications
            return NotificationRecord.State.allCases.filter { $0 != .done && $0 != .cancelled }.map {
                GaugeRegistry.Sample(labels: ["state": $0.rawValue], value: counts[$0] ?? 0)
            }
        }
        self.gauges.add(.retries) { try await statistics.latest().retries }
        self.gauges.add(.retryAge) {
            let due = try await statistics.latest().oldestRetryDueAt
            return due.map { max(0, Int(time.steady.since($0).components.seconds)) } ?? 0
        }
        self.gauges.add(.shardsLeased) { try await statistics.latest().shardsLeased }
        self.gauges.add(.shardsWaiting) { try await statistics.latest().shardsWaiting }
        self.gauges.add(.tokensDeactivated) { try await statistics.latest().tokensDeactivated }
        self.gauges.add(.tokensWithheld) { try await statistics.latest().tokensWithheld }
        self.gauges.add(.webhookBacklog) { try await statistics.latest().webhookBacklog }
        self.gauges.add(.logBytes) { store.logBytes }
        self.gauges.add(.queriesRunning) { store.queryCounts.running }
        self.gauges.add(.queriesWaiting) { store.queryCounts.waiting }
        self.gauges.add(.unauthenticatedConnections) { unauthenticated.count }
        self.gauges.add(.unauthenticatedBytes) { unauthenticated.bytes }
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
        self.store = store
        self.time = time
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

/// The names of the gauges.
extension Metric {
    static let buildInfo = Metric("martlet_build_info", "The running version.")
    static let memory = Metric("process_resident_memory_bytes", "Memory of the process that is not swapped out.")
    static let notifications = Metric("martlet_notifications", "Notifications that have not ended, by state.")
    static let retries = Metric("martlet_retries", "Recipients that wait for a retry.")
    static let retryAge = Metric("martlet_retry_lag_seconds", "Time since the oldest due retry became due.")
    static let shardsLeased = Metric("martlet_shards_leased", "Shards that are being sent.")
    static let shardsWaiting = Metric("martlet_shards_waiting", "Shards that are neither done nor being sent.")
    static let tokensDeactivated = Metric("martlet_tokens_deactivated", "Devices with an invalid token.")
    static let tokensWithheld = Metric("martlet_tokens_withheld", "Deactivations that wait for a decision.")
    static let webhookBacklog = Metric(
        "martlet_webhook_backlog",
        "Blocks of events that the slowest webhook has not accepted."
    )
    static let logBytes = Metric("martlet_store_wal_bytes", "Length of the write-ahead log.")
    static let queriesRunning = Metric("martlet_queries_running", "Long queries that run.")
    static let queriesWaiting = Metric("martlet_queries_waiting", "Long queries that wait for their turn.")
    static let unauthenticatedConnections = Metric(
        "martlet_api_unauthenticated_connections",
        "Connections to the API that have shown no valid key."
    )
    static let unauthenticatedBytes = Metric(
        "martlet_api_unauthenticated_bytes",
        "Bytes that these connections hold."
    )
}
