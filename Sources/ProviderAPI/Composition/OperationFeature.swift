import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import ServiceLifecycle

/// The feature for operating the server: health, metrics, statistics, the overview, the clock and the write-ahead log.
struct OperationFeature: ProviderFeature {
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(
        _ core: ProviderCore,
        _ sending: SendingComponents,
        dispatch: DispatchMetrics,
        expiry: CredentialExpiryMonitor,
        publishing: PublishingFeature
    ) {
        let (store, time, logger) = (core.store, core.time, core.logger)
        let gauges = ProviderMetrics(
            registry: core.metrics,
            budgets: core.budgets,
            store: store,
            dispatch: dispatch,
            expiry: expiry,
            faults: sending.faults,
            unauthenticated: core.unauthenticated,
            downloads: publishing.downloads,
            waits: core.waits,
            nodes: core.nodes,
            time: time
        )
        let trouble = HealthChecker(
            store: store,
            faults: sending.faults,
            expiry: expiry,
            files: publishing.files,
            time: time
        )
        self.services = [
            ClockMonitor(
                store: store,
                stateMachine: core.clock,
                time: time,
                wakes: [core.wakes[.urgent], core.wakes[.bulk], core.scheduleWake, core.webhookWake],
                logger: logger
            ),
            StatisticsWriter(store: store, logger: logger),
            WALMonitor(store: store, metrics: core.metrics, logger: logger),
        ]
        self.controllers = [
            ServerController(probe: ReadyProbe(store: store), metrics: gauges),
            StatisticsController(store: store, time: time),
            SystemController(store: store, dispatch: dispatch, startedAt: time.now, time: time),
            OverviewController(store: store, trouble: trouble, time: time),
        ]
    }
}
