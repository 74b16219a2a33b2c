import PushHTTP
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The provider's figures: those of the store, read when somebody asks, and those that were counted meanwhile.
struct ProviderMetrics: Sendable {
    private let source = GaugeRegistry()
    private let registry: PrometheusRegistry

    init(
        registry: PrometheusRegistry,
        store: SQLiteStore,
        unproven: UnauthenticatedConnections,
        time: any TimeSource
    ) {
        self.registry = registry
        self.source.add(.buildInfo, ["version": OpenAPIDocument.version]) { 1 }
        self.source.add(.memory) { ProcessMemory.resident.map { [GaugeRegistry.Sample(value: $0)] } ?? [] }
        let figures = StatisticsCache(store: store, time: time)
        self.source.add(.notifications) {
            let counts = try await figures.latest().notifications
            return NotificationRecord.State.allCases.filter { $0 != .done && $0 != .cancelled }.map {
                GaugeRegistry.Sample(labels: ["state": $0.rawValue], value: counts[$0] ?? 0)
            }
        }
        self.source.add(.retries) { try await figures.latest().retries }
        self.source.add(.retryAge) {
            let due = try await figures.latest().oldestRetryDueAt
            return due.map { max(0, Int(time.steady.since($0).components.seconds)) } ?? 0
        }
        self.source.add(.shardsLeased) { try await figures.latest().shardsLeased }
        self.source.add(.shardsWaiting) { try await figures.latest().shardsWaiting }
        self.source.add(.tokensDeactivated) { try await figures.latest().tokensDeactivated }
        self.source.add(.tokensWithheld) { try await figures.latest().tokensWithheld }
        self.source.add(.webhookBacklog) { try await figures.latest().webhookBacklog }
        self.source.add(.logBytes) { store.logBytes }
        self.source.add(.queriesRunning) { store.queryCounts.running }
        self.source.add(.queriesWaiting) { store.queryCounts.waiting }
        self.source.add(.unprovenConnections) { unproven.count }
        self.source.add(.unprovenBytes) { unproven.bytes }
    }

    func text() async throws -> String {
        try await self.source.text() + self.registry.text
    }
}

/// Reads the store's figures once for all that are made from them.
private final class StatisticsCache: Sendable {
    private static let age: Duration = .seconds(1)

    private let store: any MaintenanceStore
    private let time: any TimeSource
    private let last = Mutex<(at: Timestamp, figures: StoreStatistics)?>(nil)

    init(store: any MaintenanceStore, time: any TimeSource) {
        self.store = store
        self.time = time
    }

    func latest() async throws -> StoreStatistics {
        let now = self.time.steady
        if let last = self.last.withLock({ $0 }), now >= last.at, now.since(last.at) < Self.age { return last.figures }
        let figures = try await self.store.statistics(now: now)
        self.last.withLock { $0 = (now, figures) }
        return figures
    }
}

/// The table of all names that are read from the store.
extension Metric {
    static let buildInfo = Metric("martlet_build_info", "The version that is running.")
    static let memory = Metric("process_resident_memory_bytes", "Memory of the process that is not swapped out.")
    static let notifications = Metric("martlet_notifications", "Notifications that have not ended, by state.")
    static let retries = Metric("martlet_retries", "Recipients that wait for another try.")
    static let retryAge = Metric("martlet_retry_lag_seconds", "How long the oldest retry that is due has been waiting.")
    static let shardsLeased = Metric("martlet_shards_leased", "Shards that are being sent.")
    static let shardsWaiting = Metric("martlet_shards_waiting", "Shards that are not done and not being sent.")
    static let tokensDeactivated = Metric("martlet_tokens_deactivated", "Devices whose token is known to be dead.")
    static let tokensWithheld = Metric("martlet_tokens_withheld", "Deactivations that wait for a decision.")
    static let webhookBacklog = Metric(
        "martlet_webhook_backlog",
        "Blocks of events that the webhook that is furthest behind has not been told."
    )
    static let logBytes = Metric("martlet_store_wal_bytes", "Length of the log beside the database.")
    static let queriesRunning = Metric("martlet_queries_running", "Long questions of people that are being answered.")
    static let queriesWaiting = Metric("martlet_queries_waiting", "Long questions of people that wait for their turn.")
    static let unprovenConnections = Metric(
        "martlet_api_unproven_connections",
        "Connections to the API that have shown no valid key."
    )
    static let unprovenBytes = Metric("martlet_api_unproven_bytes", "What these connections hold, in bytes.")
}
