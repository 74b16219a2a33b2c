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
    let lock: LockedDirectory
    let store: SQLiteStore
    /// The account of what callers compete for.
    let budgets: Budgets
    /// The services besides the listener.
    let outcomes: OutcomeSignals
    let services: [any Service]
    let api: RESTAPI
    /// The part that another module adds; `nil` for none.
    let addition: (any ProviderExtension)?
    /// The pages beside the API; `nil` for none.
    let pages: (any ProviderPages)?
    let connections: HeldConnections
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
        self.lock = try LockedDirectory(configuration.dataDirectory)
        // The restored database may be incomplete or missing, and opening it would create an empty one.
        guard !FileManager.default.fileExists(atPath: configuration.replacementMarker) else {
            throw ProviderError.restoreInterrupted(configuration.databasePath)
        }
        let budgets = Budgets(configuration.budgets, clock: time.instants)
        self.budgets = budgets
        let (connections, unauthenticated) = Self.connections(configuration, budgets: budgets, logger: logger)
        (self.connections, self.unauthenticated) = (connections, unauthenticated)
        let masterKeyPath = configuration.masterKeyPath
        let store = try SQLiteStore(
            path: configuration.databasePath,
            masterKey: MasterKey.load(orCreateAt: masterKeyPath, besideDatabase: configuration.databasePath),
            limits: configuration.limits.queries,
            budgets: budgets
        )
        self.store = store
        Self.warnOfExposure(configuration, logger: logger)
        let mark = try await store.clockMark()
        let clock = ClockStateMachine(mark: mark, wall: time.now, isConfirmed: configuration.confirmsClock)
        let time = ProviderTime(time, startingAt: clock.start)
        let keys = try await APIKeys(store: store, time: time, logger: logger)
        self.adminKey = try await FirstAdminKey(keys, file: configuration.adminKeyFile, show: showAdminKey)
        let people = People(store: store, settings: configuration.sessions, time: time)
        self.adminLink = FirstAdminLink(people, configuration, logger: logger, show: showAdminLink)
        let trail = AuditTrail(store: store, time: time, logger: logger)
        let signIns = Self.signIns(
            configuration,
            store: store,
            keys: keys,
            audit: trail,
            budgets: budgets,
            time: time,
            logger: logger
        )
        self.signIns = signIns
        let (wakes, scheduleWake, webhookWake) = (LaneWakeSignals(), WakeSignal(), WakeSignal())
        let (erasureWake, outcomes, waits) = (WakeSignal(), OutcomeSignals(), WaveWaits())
        self.outcomes = outcomes
        let directory = SenderDirectory(
            store: store,
            source: senders,
            tokens: ProviderTokenCache(store: store, time: time, logger: logger),
            logger: logger
        )
        let resolver = SystemResolver(budgets)
        let web = Self.webPush(configuration, store: store, resolver: resolver, time: time)
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
        let acceptor = Self.acceptor(configuration, store: store, wakes: wakes, direct: direct, time: time)
        let channels = ChannelDirectory(store: store, directory: directory, source: senders, time: time)
        let webhooks = Self.webhooks(
            configuration,
            store: store,
            wake: webhookWake,
            resolver: resolver,
            budgets: budgets,
            metrics: metrics,
            time: time,
            logger: logger
        )
        let (dispatch, refusals) = (DispatchMetrics(factory: metrics), RefusedKeyLog(logger: logger))
        let receipts = ReceiptWriter(
            store: store,
            events: webhookWake,
            places: budgets[.receipts],
            metrics: metrics,
            time: time
        )
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
        let publishing = PublishingParts(
            store: store,
            configuration: configuration,
            acceptor: acceptor,
            wakes: wakes,
            direct: direct,
            waits: waits,
            resolver: resolver,
            budgets: budgets,
            connections: connections,
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
                lines: budgets[.logLines],
                time: time,
                logger: logger
            ),
            monitor, feedback, web,
            ClockMonitor(
                store: store,
                stateMachine: clock,
                time: time,
                wakes: [wakes[.urgent], wakes[.bulk], scheduleWake, webhookWake],
                logger: logger
            ),
            webhooks, expiry, publishing.files,
            TokenEventMonitor(store: store, metrics: metrics, logger: logger),
            CampaignMonitor(store: store, lines: budgets[.logLines], logger: logger),
            StatisticsWriter(store: store, logger: logger), refusals,
            WALMonitor(store: store, metrics: metrics, logger: logger), keys.uses,
        ]
        let cleaning = Self.cleaning(configuration, store, publishing.cleaner, direct, erasureWake, time, logger)
        let runner = Self.runner(
            configuration,
            store: store,
            keys: keys,
            audit: trail,
            refusals: refusals,
            budgets: budgets,
            connections: connections,
            metrics: metrics,
            logger: logger
        )
        let addition = try addition(
            ProviderParts(
                configuration: configuration,
                store: store,
                acceptor: acceptor,
                outcomes: outcomes,
                forwards: direct.forwards,
                runner: runner,
                resolver: resolver,
                budgets: budgets,
                metrics: metrics,
                time: time,
                logger: logger
            )
        )
        self.addition = addition
        self.services = services + cleaning + (gatewayReceipts.map { [$0] } ?? []) + (addition?.services ?? [])
        let gauges = ProviderMetrics(
            registry: metrics,
            budgets: budgets,
            store: store,
            dispatch: dispatch,
            expiry: expiry,
            faults: faults,
            unauthenticated: unauthenticated,
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
                    direct: direct,
                    tester: tester,
                    tests: budgets[.credentialTests],
                    time: time,
                    logger: logger
                ),
                EnvironmentsController(store: store, faults: faults, monitor: monitor),
                Self.erasureController(configuration, store, faults, direct, erasureWake, webhooks, addition, time),
                ReceiptsController(store: store, writer: receipts),
                SchedulesController(store: store, wake: scheduleWake, time: time),
                TimelineController(store: store, gateway: configuration.gatewayEvents, faults: faults, time: time),
                TokenStateController(store: store, invalidation: invalidation, time: time, logger: logger),
                FeedbackController(store: store, service: feedback, time: time),
                ReactivationController(store: store, time: time, logger: logger),
            ] + Self.stopControllers(store, wakes, direct, outcomes, faults, waits, time)
                + Self.webhookControllers(configuration, store: store, webhooks, wake: webhookWake, time: time)
                + Self.callerControllers(store: store, keys: keys, people: people, signIns: signIns, time: time)
                + Self.deviceControllers(
                    configuration,
                    store: store,
                    direct: direct,
                    budgets: budgets,
                    time: time,
                    logger: logger
                )
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
                    trouble: TroubleReport(
                        store: store,
                        faults: faults,
                        expiry: expiry,
                        files: publishing.files,
                        time: time
                    ),
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
                budgets: budgets,
                connections: connections,
                failures: runner.failures,
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
