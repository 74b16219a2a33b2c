import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The provider's metrics: gauges, which are read at each scrape, and the counters of the registry.
struct ProviderMetrics: Sendable {
    private let gauges = GaugeRegistry()
    private let registry: PrometheusRegistry

    /// Creates the gauges of the components.
    /// - Parameter registry: The counters, which follow the gauges in the output.
    init(
        registry: PrometheusRegistry,
        budgets: BudgetRegistry,
        store: SQLStore,
        dispatch: DispatchMetrics,
        expiry: CredentialExpiryMonitor,
        faults: ConfigurationFaultTracker,
        unauthenticated: UnauthenticatedConnectionBudget,
        downloads: DownloadMonitor,
        waits: HeldWaveRegistry,
        nodes: NodeMembership?,
        time: any TimeSource
    ) {
        self.registry = registry
        let statistics = StatisticsCache(store: store, time: time)
        self.gauges.add("martlet_build_info", "The running version.", labels: ["version": MartletVersion.number]) { 1 }
        self.gauges.addProcess()
        self.addQueue(statistics, dispatch, time)
        self.addTokens(statistics, expiry)
        self.addPauses(faults, store)
        self.addStops(store)
        self.addWebhooks(statistics, time)
        self.addStore(store)
        self.addNodes(store, nodes, time)
        self.gauges.add(budgets)
        self.gauges.add("martlet_downloads_open", "Downloads that are open.") { downloads.figures.open }
        self.gauges.add("martlet_download_bytes_per_second", "Bytes per second of downloads, over ten seconds.") {
            downloads.figures.bytesPerSecond
        }
        self.gauges.add("martlet_waves_waiting", "Notifications whose next wave waits for downloads, by cause.") {
            let counts = waits.counts(now: time.steady)
            return HeldWave.Cause.allCases.map { .init(labels: ["cause": $0.rawValue], value: counts[$0] ?? 0) }
        }
        let help = "Connections to the API that have shown no valid key."
        self.gauges.add("martlet_api_unauthenticated_connections", help) { unauthenticated.count }
        self.gauges.add("martlet_api_unauthenticated_bytes", "Bytes that these connections hold.") {
            unauthenticated.bytes
        }
    }

    private func addQueue(_ statistics: StatisticsCache, _ dispatch: DispatchMetrics, _ time: any TimeSource) {
        self.gauges.add("martlet_notifications", "Notifications that have not ended, by state.") {
            let counts = try await statistics.latest().notifications
            return NotificationRecord.State.allCases.filter { $0 != .done && $0 != .cancelled }.map {
                GaugeRegistry.Sample(labels: ["state": $0.rawValue], value: counts[$0] ?? 0)
            }
        }
        self.add("martlet_retries", "Recipients that wait for a retry.", statistics, \.retries)
        self.gauges.add("martlet_retry_lag_seconds", "Time since the oldest due retry became due.") {
            let due = try await statistics.latest().oldestRetryDueAt
            return due.map { max(0, Int(time.steady.since($0).components.seconds)) } ?? 0
        }
        for (name, lane) in [("urgent", NotificationRecord.Lane.urgent), ("bulk", .bulk)] {
            let help = "Pages whose responses are outstanding, by lane."
            self.gauges.add("martlet_pages_in_flight", help, labels: ["lane": name]) { dispatch.pagesInFlight(lane) }
        }
        self.add("martlet_shards_leased", "Shards that are being sent.", statistics, \.shardsLeased)
        self.add("martlet_shards_waiting", "Shards that are neither done nor being sent.", statistics, \.shardsWaiting)
        self.add("martlet_shards_due", "Shards that may be sent now or are being sent.", statistics, \.shardsDue)
    }

    private func addTokens(_ statistics: StatisticsCache, _ expiry: CredentialExpiryMonitor) {
        self.add("martlet_tokens_deactivated", "Devices with an invalid token.", statistics, \.tokensDeactivated)
        self.add("martlet_tokens_withheld", "Deactivations that wait for a decision.", statistics, \.tokensWithheld)
        self.gauges.add("martlet_breaker_open", "1 for an environment of an app in which no token is deactivated.") {
            try await statistics.latest().openBreakers.map { Self.sample($0.bundleID, $0.environment, 1) }
        }
        self.gauges.add("martlet_certificate_expiry_timestamp_seconds", "Time at which a certificate of an app ends.") {
            expiry.certificates.map { Self.sample($0.bundleID, $0.environment, Int($0.expires.seconds)) }
        }
    }

    private func addPauses(_ faults: ConfigurationFaultTracker, _ store: any AppStore) {
        self.gauges.add("martlet_environment_paused", "1 while an app's sending to an environment is paused.") {
            let pauses = try await faults.pauses()
            guard !pauses.isEmpty else { return [] }
            let names = Dictionary(try await store.apps().map { ($0.id, $0.bundleID.name) }) { $1 }
            return pauses.compactMap { pause in
                // An app that is being erased has no name any more.
                guard let app = names[pause.target.app] else { return nil }
                let (environment, cause) = (pause.target.environment.rawValue, pause.fault.cause.rawValue)
                return GaugeRegistry.Sample(labels: ["app": app, "environment": environment, "cause": cause], value: 1)
            }
        }
    }

    private func addStops(_ store: any AppStore) {
        self.gauges.add("martlet_app_stopped", "1 while nothing of an app is sent, because it was stopped.") {
            let stops = try await store.stops()
            guard !stops.isEmpty else { return [] }
            let names = Dictionary(try await store.apps().map { ($0.id, $0.bundleID.name) }) { $1 }
            return stops.compactMap { stop in
                names[stop.app].map { GaugeRegistry.Sample(labels: ["app": $0], value: 1) }
            }
        }
    }

    private static func sample(_ app: Topic, _ environment: PushEnvironment, _ value: Int) -> GaugeRegistry.Sample {
        GaugeRegistry.Sample(labels: ["app": app.name, "environment": environment.rawValue], value: value)
    }

    private func addWebhooks(_ statistics: StatisticsCache, _ time: any TimeSource) {
        let help = "Blocks of events that the slowest webhook has not accepted."
        self.add("martlet_webhook_backlog", help, statistics, \.webhookBacklog)
        self.gauges.add("martlet_webhook_lag_seconds", "Age of the oldest event that a webhook has not accepted.") {
            let oldest = try await statistics.latest().oldestWebhookBlockAt
            return oldest.map { max(0, Int(time.now.since($0).components.seconds)) } ?? 0
        }
    }

    /// Adds the gauges of the nodes that share the store, which are the same at all of them.
    private func addNodes(_ store: SQLStore, _ nodes: NodeMembership?, _ time: any TimeSource) {
        guard let nodes else { return }
        self.gauges.add("martlet_nodes", "Nodes that were alive at the last heartbeat.") { nodes.count }
        self.gauges.add("martlet_node_seen_age_seconds", "Time since the last heartbeat of each node that is alive.") {
            let now = time.now
            return try await store.nodes().filter { $0.endedAt == nil }.map { node in
                GaugeRegistry.Sample(
                    labels: ["node": node.description.name],
                    value: max(0, Int(now.since(node.seenAt).components.seconds))
                )
            }
        }
        self.gauges.add("martlet_clock_offset_milliseconds", "Time by which this clock is ahead of the database's.") {
            Int(nodes.clockOffset.milliseconds)
        }
    }

    private func addStore(_ store: SQLStore) {
        self.gauges.add("martlet_store_wal_bytes", "Length of the write-ahead log.") { store.logBytes }
        self.gauges.add("martlet_store_database_bytes", "Length of the database.") { store.fileBytes }
        self.gauges.add("martlet_store_disk_available_bytes", "Free space of the database's file system.") {
            store.availableBytes.map { [GaugeRegistry.Sample(value: $0)] } ?? []
        }
        self.gauges.add("martlet_queries_running", "Long queries that run.") { store.queryCounts.running }
        self.gauges.add("martlet_queries_waiting", "Long queries that wait for their turn.") {
            store.queryCounts.waiting
        }
    }

    /// Adds a gauge whose value is the member `value` of the store's statistics.
    private func add(
        _ name: String,
        _ help: String,
        _ statistics: StatisticsCache,
        _ value: any KeyPath<StoreBacklog, Int> & Sendable
    ) {
        self.gauges.add(name, help) { try await statistics.latest()[keyPath: value] }
    }

    func text() async throws -> String { try await self.gauges.text() + self.registry.text }
}

/// A cached copy of the store's statistics, which serves all gauges of one scrape.
private final class StatisticsCache: Sendable {
    private static let lifetime: Duration = .seconds(1)

    private let store: any MaintenanceStore
    private let time: any TimeSource
    private let last = Mutex<(at: Timestamp, statistics: StoreBacklog)?>(nil)

    init(store: any MaintenanceStore, time: any TimeSource) { (self.store, self.time) = (store, time) }

    func latest() async throws -> StoreBacklog {
        let now = self.time.steady
        if let last = self.last.withLock({ $0 }), now >= last.at, now.since(last.at) < Self.lifetime {
            return last.statistics
        }
        let statistics = try await self.store.statistics(now: now)
        self.last.withLock { $0 = (now, statistics) }
        return statistics
    }
}
