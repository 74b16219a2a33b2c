import Logging
import Metrics
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

extension ProviderServer {
    /// Returns the controllers of devices, their users and audiences.
    static func deviceControllers(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        direct: DirectDispatch,
        budgets: Budgets,
        time: any TimeSource,
        logger: Logger
    ) -> [any Controller<APIScope>] {
        let addresses = configuration.webhookAddresses
        return [
            UserSecretsController(store: store, time: time), VAPIDController(store: store, time: time),
            DevicesController(store: store, direct: direct, addresses: addresses, time: time),
            InstallationsController(store: store, direct: direct, addresses: addresses, time: time),
            UserPreferencesController(store: store, direct: direct), HistoryController(store: store),
            AudiencesController(store: store, time: time),
            NamedAudiencesController(store: store, turns: budgets[.longLists], time: time),
            TemplatesController(store: store, turns: budgets[.longLists], time: time),
            DeviceTransferController(
                store: store,
                direct: direct,
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

    /// Returns the controllers that stop and resume what is sent.
    static func stopControllers(
        _ store: SQLiteStore,
        _ wakes: LaneWakeSignals,
        _ direct: DirectDispatch,
        _ outcomes: OutcomeSignals,
        _ faults: ConfigurationFaults,
        _ waits: WaveWaits,
        _ time: any TimeSource
    ) -> [any Controller<APIScope>] {
        [
            NotificationsController(
                store: store,
                wakes: wakes,
                direct: direct,
                outcomes: outcomes,
                faults: faults,
                waits: waits,
                time: time
            ),
            AppStopController(store: store, wakes: wakes, direct: direct, time: time),
        ]
    }

    /// Returns the controller of erasures, which the part of another module hears of.
    static func erasureController(
        _ configuration: ProviderConfiguration,
        _ store: SQLiteStore,
        _ faults: ConfigurationFaults,
        _ direct: DirectDispatch,
        _ wake: WakeSignal,
        _ webhooks: WebhookDelivery,
        _ addition: (any ProviderExtension)?,
        _ time: any TimeSource
    ) -> ErasureController {
        ErasureController(
            store: store,
            faults: faults,
            direct: direct,
            wake: wake,
            patience: configuration.limits.outcome,
            interrupt: { await webhooks.interrupt($0) },
            noteErasure: { addition?.erasureBegan() },
            time: time
        )
    }

    /// Returns the services that delete what is not kept any more.
    static func cleaning(
        _ configuration: ProviderConfiguration,
        _ store: SQLiteStore,
        _ files: FileCleaner,
        _ direct: DirectDispatch,
        _ erasureWake: WakeSignal,
        _ time: any TimeSource,
        _ logger: Logger
    ) -> [any Service] {
        [
            RetentionService(
                store: store,
                settings: configuration.retention,
                files: files,
                time: time,
                logger: logger
            ),
            ErasureService(
                store: store,
                direct: direct,
                settings: configuration.erasure,
                wake: erasureWake,
                time: time,
                logger: logger
            ),
        ]
    }

    /// Returns the service that signs people in.
    static func signIns(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        keys: APIKeys,
        audit: AuditTrail,
        budgets: Budgets,
        time: any TimeSource,
        logger: Logger
    ) -> SignInService {
        SignInService(
            store: store,
            keys: keys,
            hasher: PasswordHasher(
                configuration.passwords,
                secret: store.passwordSecret,
                places: budgets[.hashes],
                strangersPlaces: budgets[.strangerHashes]
            ),
            settings: configuration.sessions,
            lines: budgets[.logLines],
            time: time,
            logger: logger,
            audit: { await audit.record($0, status: 200, by: $1, isFrequent: true) }
        )
    }

    /// Returns the runner of all operations.
    static func runner(
        _ configuration: ProviderConfiguration,
        store: SQLiteStore,
        keys: APIKeys,
        audit: AuditTrail,
        refusals: RefusedKeyLog,
        budgets: Budgets,
        connections: HeldConnections,
        metrics: any MetricsFactory,
        logger: Logger
    ) -> OperationRunner {
        let requests = RequestMetrics(factory: metrics)
        return OperationRunner(
            keys: keys,
            apps: AppAuthorization(store: store),
            budgets: budgets,
            connections: connections,
            queryBudget: configuration.limits.query,
            audit: audit,
            metrics: requests,
            refusals: refusals,
            failures: FailureReporter(metrics: requests, lines: budgets[.logLines], logger: logger)
        )
    }

    /// The connections that are accepted beyond the limit, so that idle ones can be closed for them.
    static let acceptedBeyond = 64

    /// Returns the accounts of all connections, and those that are not authenticated yet.
    static func connections(
        _ configuration: ProviderConfiguration,
        budgets: Budgets,
        logger: Logger
    ) -> (held: HeldConnections, unauthenticated: UnauthenticatedConnections) {
        var limits = configuration.limits.unauthenticated
        let held = HeldConnections(budgets, maximumStrangers: limits.connections, logger: logger)
        // Their number is bounded by their accounts.
        limits.connections = configuration.limits.connections + Self.acceptedBeyond
        return (held, UnauthenticatedConnections(limits: limits, logger: logger))
    }
}
