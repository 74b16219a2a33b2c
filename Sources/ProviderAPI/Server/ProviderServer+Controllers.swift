import Logging
import Metrics
import PushHTTP
import PushProvider
import PushStore
import PushSupport

extension ProviderServer {
    /// Returns the controllers of devices, their users and audiences.
    static func deviceControllers(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        time: any TimeSource,
        logger: Logger
    ) -> [any Controller<APIScope>] {
        let addresses = configuration.webhookAddresses
        return [
            UserSecretsController(store: store, time: time), VAPIDController(store: store, time: time),
            DevicesController(store: store, addresses: addresses, time: time),
            InstallationsController(store: store, addresses: addresses, time: time),
            UserPreferencesController(store: store), HistoryController(store: store),
            AudiencesController(store: store, time: time), NamedAudiencesController(store: store, time: time),
            TemplatesController(store: store, time: time),
            DeviceTransferController(
                store: store,
                time: time,
                logger: logger,
                maximumFile: configuration.limits.importFile
            ),
        ]
    }

    /// Returns the controllers that accept notifications and broadcasts.
    static func sendingControllers(
        store: SQLiteStore,
        acceptor: NotificationAcceptor,
        channels: ChannelDirectory,
        outcomes: OutcomeSignals,
        faults: ConfigurationFaults,
        time: any TimeSource
    ) -> [any Controller<APIScope>] {
        [
            SendingController(store: store, acceptor: acceptor, outcomes: outcomes, faults: faults, time: time),
            ChannelsController(store: store, channels: channels),
            BroadcastsController(store: store, channels: channels, acceptor: acceptor, faults: faults, time: time),
        ]
    }

    /// Returns the controller of webhooks.
    static func webhookControllers(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        _ webhooks: WebhookDelivery,
        wake: WakeSignal,
        time: any TimeSource
    ) -> [any Controller<APIScope>] {
        [
            WebhooksController(
                store: store,
                addresses: configuration.webhookAddresses,
                wake: wake,
                interrupt: { await webhooks.interrupt($0) },
                postTest: { await webhooks.test($0, app: $1) },
                time: time
            )
        ]
    }

    /// Returns the controllers of those who make requests: keys and people.
    static func callerControllers(
        store: SQLiteStore,
        keys: APIKeys,
        people: People,
        signIns: SignInService,
        time: any TimeSource
    ) -> [any Controller<APIScope>] {
        [
            KeysController(store: store, keys: keys, time: time),
            PeopleController(store: store, people: people, time: time),
            MeController(store: store, signIns: signIns, time: time),
        ]
    }

    /// Returns the runner of all operations.
    static func runner(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        keys: APIKeys,
        audit: AuditTrail,
        refusals: RefusedKeyLog,
        metrics: any MetricsFactory,
        time: any TimeSource,
        logger: Logger
    ) -> OperationRunner {
        let (limits, requests) = (configuration.limits, RequestMetrics(factory: metrics))
        return OperationRunner(
            keys: keys,
            apps: AppAuthorization(store: store),
            rates: KeyRateLimiter(rate: limits.keyRate, publicRate: limits.publicKeyRate, clock: time.instants),
            queryBudget: limits.query,
            audit: audit,
            metrics: requests,
            refusals: refusals,
            failures: FailureReporter(metrics: requests, logger: logger)
        )
    }

    /// Returns the connections that are not authenticated yet. They are closed for new ones before the listener reaches its
    /// limit.
    static func unauthenticatedConnections(
        _ configuration: ProviderConfiguration,
        logger: Logger
    ) -> UnauthenticatedConnections {
        var limits = configuration.limits.unauthenticated
        limits.connections = min(limits.connections, max(1, configuration.limits.connections / 2))
        return UnauthenticatedConnections(limits: limits, logger: logger)
    }
}
