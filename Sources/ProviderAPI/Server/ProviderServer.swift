import Foundation
import Hummingbird
package import Logging
package import PushHTTP
package import PushProvider
package import PushSender
import PushStore
package import PushSupport
import ServiceLifecycle

/// A provider server: the REST API, the dispatcher and their background services.
package final class ProviderServer: Service {
    /// The text of the admin key that the first start issues; `nil` later.
    ///
    /// It is valid once ``port()`` has returned, and is kept nowhere but in ``ProviderConfiguration/adminKeyFile``.
    package var firstAdminKey: String? { self.adminKey.text }

    let adminKey: FirstAdminKey
    let adminLink: FirstAdminLink
    /// Signs people in, for the pages.
    package let signIns: SignInService
    let configuration: ProviderConfiguration
    /// The lock of the data directory: a second process with the same database would send everything twice.
    private let lock: DirectoryLock
    let store: SQLiteStore
    /// The services besides the listener.
    let outcomes: OutcomeSignals
    let services: [any Service]
    let api: RESTAPI
    /// The part that another module adds; `nil` for none.
    let addition: (any ProviderExtension)?
    /// The pages beside the API; `nil` for none.
    let pages: (any ProviderPages)?
    let unauthenticated: UnauthenticatedConnections
    /// The certificate of the API; `nil` without TLS.
    let certificate: TLSCertificate?
    /// The port, once requests are served.
    let bound = OneShotValue<Int>()
    /// The port, once the listener is bound and before the first admin key is valid.
    let listening = OneShotValue<Int>()
    let logger: Logger

    /// Opens the database.
    ///
    /// - Parameters:
    ///   - metrics: The metrics that `/metrics` shows besides the gauges of the store.
    ///   - addition: Makes the part that another module adds; default none.
    ///   - pages: Makes the pages beside the API; default none.
    ///   - showAdminKey: Is called with the first admin key, once, when the listener is bound: before the key is valid,
    ///     or when it is in its file.
    ///   - showAdminLink: Is called with the link that makes the first person, at every start without any person.
    /// - Throws: ``StoreError``, ``ProviderError``.
    package init(
        configuration: ProviderConfiguration,
        senders: any SenderSource,
        policy: RetryPolicy = RetryPolicy(),
        metrics: PrometheusRegistry = PrometheusRegistry(ProviderServer.metricDescriptions),
        addition: (ProviderParts) throws -> (any ProviderExtension)? = { _ in nil },
        pages: (ProviderInterface) throws -> (any ProviderPages)? = { _ in nil },
        showAdminKey: @escaping @Sendable (String) -> Void = { _ in },
        showAdminLink: @escaping @Sendable (String) -> Void = { _ in },
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) async throws {
        (self.configuration, self.logger) = (configuration, logger)
        self.certificate = try configuration.tls.map { try TLSCertificate($0, logger: logger) }
        self.lock = try Self.lock(configuration.dataDirectory)
        // The restored database may be incomplete or missing, and opening it would create an empty one.
        guard !FileManager.default.fileExists(atPath: configuration.replacementMarker) else {
            throw ProviderError.restoreInterrupted(configuration.databasePath)
        }
        let masterKeyPath = configuration.masterKeyPath
        let store = try SQLiteStore(
            path: configuration.databasePath,
            masterKey: MasterKey.load(orCreateAt: masterKeyPath, besideDatabase: configuration.databasePath),
            limits: configuration.limits.queries
        )
        self.store = store
        let mark = try await store.clockMark()
        let clock = ClockStateMachine(mark: mark, wall: time.now, isConfirmed: configuration.confirmsClock)
        let time = ProviderTime(time, startingAt: clock.start)
        let keys = APIKeys(store: store, time: time, logger: logger)
        self.adminKey = try await FirstAdminKey(keys, file: configuration.adminKeyFile, show: showAdminKey)
        let people = People(store: store, settings: configuration.sessions, time: time)
        self.adminLink = FirstAdminLink(people, configuration, logger: logger, show: showAdminLink)
        let trail = AuditTrail(store: store, time: time, logger: logger)
        let signIns = SignInService(
            store: store,
            keys: keys,
            hasher: PasswordHasher(configuration.passwords, secret: store.passwordSecret),
            settings: configuration.sessions,
            time: time,
            logger: logger,
            audit: { await trail.record($0, status: 200, by: $1, isFrequent: true) }
        )
        self.signIns = signIns
        let (wakes, scheduleWake, webhookWake) = (LaneWakeSignals(), WakeSignal(), WakeSignal())
        let erasureWake = WakeSignal()
        let outcomes = OutcomeSignals()
        self.outcomes = outcomes
        let directory = SenderDirectory(
            store: store,
            source: senders,
            tokens: ProviderTokenCache(store: store, time: time, logger: logger),
            logger: logger
        )
        let web = WebPushSenders(store: store, addresses: configuration.webhookAddresses, time: time)
        let invalidation = TokenInvalidationPolicy(store: store, limits: configuration.breaker, logger: logger)
        let faults = ConfigurationFaults(
            store: store,
            directory: directory,
            source: senders,
            wakes: wakes,
            webhookWake: webhookWake,
            time: time,
            logger: logger
        )
        let tester = CredentialTester(store: store, directory: directory, source: senders, time: time)
        let monitor = ConfigurationFaultMonitor(faults: faults, tester: tester, logger: logger)
        let direct = DirectDispatch(store: store, limits: configuration.dispatch, time: time)
        let acceptor = NotificationAcceptor(store: store, wakes: wakes, direct: direct, time: time)
        let channels = ChannelDirectory(store: store, directory: directory, source: senders, time: time)
        let webhooks = WebhookDelivery(
            store: store,
            bundleID: { try await store.app(id: $0)?.bundleID },
            wake: webhookWake,
            addresses: configuration.webhookAddresses,
            metrics: metrics,
            time: time,
            logger: logger
        )
        let dispatch = DispatchMetrics(factory: metrics)
        let receipts = ReceiptWriter(store: store, events: webhookWake, metrics: metrics, time: time)
        let refusals = RefusedKeyLog(logger: logger)
        let expiry = CredentialExpiryMonitor(store: store, webhookWake: webhookWake, time: time, logger: logger)
        let gatewayReceipts = configuration.gatewayEvents.map {
            GatewayReceipts(gateway: $0, store: store, writer: receipts, logger: logger)
        }
        let feedback = FeedbackService(
            store: store,
            directory: directory,
            policy: invalidation,
            endpoints: configuration.feedback,
            events: webhookWake,
            metrics: metrics,
            time: time,
            logger: logger
        )
        let waits = WaveWaits()
        let entitlement = EntitlementChecker(
            store: store,
            settings: configuration.entitlement,
            addresses: configuration.webhookAddresses,
            time: time,
            logger: logger
        )
        let publishing = PublishingParts(
            store: store,
            configuration: configuration,
            acceptor: acceptor,
            waits: waits,
            entitlement: entitlement,
            metrics: metrics,
            time: time,
            logger: logger
        )
        let services: [any Service] = [
            Dispatcher(
                store: store,
                directory: directory,
                web: web,
                invalidation: invalidation,
                faults: faults,
                wakes: wakes,
                outcomes: outcomes,
                events: webhookWake,
                limits: configuration.dispatch,
                policy: policy,
                metrics: dispatch,
                downloads: { [downloads = publishing.downloads] in downloads.figures(app: $0) },
                waits: waits,
                direct: direct,
                time: time,
                logger: logger
            ),
            ScheduleRunner(
                store: store,
                acceptor: acceptor,
                wake: scheduleWake,
                settings: configuration.schedules,
                time: time,
                logger: logger
            ),
            monitor, feedback, web,
            RetentionService(
                store: store,
                settings: configuration.retention,
                files: publishing.cleaner,
                time: time,
                logger: logger
            ),
            ClockMonitor(
                store: store,
                stateMachine: clock,
                time: time,
                wakes: [wakes[.urgent], wakes[.bulk], scheduleWake, webhookWake],
                logger: logger
            ),
            webhooks, expiry,
            TokenEventMonitor(store: store, metrics: metrics, logger: logger),
            CampaignMonitor(store: store, logger: logger), StatisticsWriter(store: store, logger: logger), refusals,
            WALMonitor(store: store, metrics: metrics, logger: logger), keys.uses,
            ErasureService(
                store: store,
                settings: configuration.erasure,
                wake: erasureWake,
                time: time,
                logger: logger
            ),
        ]
        let connections = Self.unauthenticatedConnections(configuration, logger: logger)
        self.unauthenticated = connections
        let runner = Self.runner(
            configuration,
            store: store,
            keys: keys,
            audit: trail,
            refusals: refusals,
            metrics: metrics,
            time: time,
            logger: logger
        )
        let addition = try addition(
            ProviderParts(
                configuration: configuration,
                store: store,
                acceptor: acceptor,
                outcomes: outcomes,
                runner: runner,
                metrics: metrics,
                time: time,
                logger: logger
            )
        )
        self.addition = addition
        self.services = services + (gatewayReceipts.map { [$0] } ?? []) + (addition?.services ?? [])
        let gauges = ProviderMetrics(
            registry: metrics,
            store: store,
            dispatch: dispatch,
            expiry: expiry,
            faults: faults,
            unauthenticated: connections,
            downloads: publishing.downloads,
            waits: waits,
            time: time
        )
        self.api = RESTAPI(
            controllers: [
                ServerController(probe: ReadyProbe(store: store), metrics: gauges),
                AppsController(store: store, faults: faults, time: time),
                CredentialsController(
                    store: store,
                    directory: directory,
                    invalidation: invalidation,
                    expiry: expiry,
                    faults: faults,
                    tester: tester,
                    time: time,
                    logger: logger
                ),
                EnvironmentsController(store: store, faults: faults, monitor: monitor),
                ErasureController(
                    store: store,
                    faults: faults,
                    wake: erasureWake,
                    interrupt: { await webhooks.interrupt($0) },
                    time: time
                ),
                ReceiptsController(store: store, writer: receipts),
                SchedulesController(store: store, wake: scheduleWake, time: time),
                TimelineController(store: store, gateway: configuration.gatewayEvents, time: time),
                NotificationsController(
                    store: store,
                    wakes: wakes,
                    outcomes: outcomes,
                    faults: faults,
                    waits: waits,
                    time: time
                ),
                TokenStateController(store: store, invalidation: invalidation, time: time, logger: logger),
                FeedbackController(store: store, service: feedback, time: time),
                ReactivationController(store: store, time: time, logger: logger),
                EntitlementController(
                    store: store,
                    addresses: configuration.webhookAddresses,
                    checker: entitlement,
                    time: time
                ), AppStopController(store: store, wakes: wakes, time: time),
            ] + Self.webhookControllers(configuration, store: store, webhooks, wake: webhookWake, time: time)
                + Self.callerControllers(store: store, keys: keys, people: people, signIns: signIns, time: time)
                + Self.deviceControllers(configuration, store: store, time: time, logger: logger)
                + Self.sendingControllers(
                    store: store,
                    acceptor: acceptor,
                    channels: channels,
                    outcomes: outcomes,
                    faults: faults,
                    time: time
                )
                + publishing.controllers + (addition?.controllers ?? [])
                + Self.reportControllers(
                    store: store,
                    trail: trail,
                    dispatch: dispatch,
                    trouble: TroubleReport(store: store, faults: faults, expiry: expiry, time: time),
                    waits: waits,
                    time: time
                ),
            runner: runner,
            compatibility: CompatibilityRoutes(
                configuration: configuration.compatibility,
                store: store,
                acceptor: acceptor,
                notifier: publishing.notifier,
                runner: runner,
                time: time
            ),
            logger: logger
        )
        self.pages = try pages(
            ProviderInterface(
                api: self.api.responder,
                signIn: signIns,
                isSecure: configuration.tls != nil,
                time: time,
                logger: logger
            )
        )
    }

    /// Returns the port of the API, after waiting until requests are served.
    ///
    /// - Throws: The error that ended ``run()`` before that.
    package func port() async throws -> Int {
        try await self.bound.value
    }
}
