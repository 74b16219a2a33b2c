import Foundation
import Logging
import ProviderModel
import PushHTTP
import PushProvider
import PushSender
import PushStore
import PushSupport

/// The components of a provider that all its features share: the database, the budgets, the clocks, and the signals
/// that wake services.
struct ProviderCore: Sendable {
    let configuration: ProviderConfiguration
    /// The lock of the data directory. A second process with the same database would send every push twice.
    let lock: LockedDirectory
    let store: SQLStore
    let budgets: BudgetRegistry
    let connections: ConnectionLimiter
    let unauthenticated: UnauthenticatedConnectionBudget
    /// The resolver of the host names of servers that callers name, such as webhook receivers.
    let resolver: any NameResolver
    let metrics: PrometheusRegistry
    let time: any TimeSource
    /// The membership in the nodes that share the database, or `nil` for a database of this process alone.
    let nodes: NodeMembership?
    /// The state machine that judges whether the wall clock can be trusted, in its initial state.
    let clock: ClockStateMachine
    let logger: Logger

    /// The signals that wake the lanes of the dispatcher, which send urgent and bulk notifications separately, when
    /// work becomes due.
    let wakes = LaneWakeSignals()
    let scheduleWake = WakeSignal()
    let webhookWake = WakeSignal()
    let erasureWake = WakeSignal()
    let outcomes = OutcomeSignals()
    let waits = HeldWaveRegistry()

    /// The number of connections accepted beyond the maximum, until idle connections have been closed for them.
    static let acceptedBeyond = 64

    /// Locks the data directory, opens the database and creates the shared components.
    /// - Throws: ``StoreError`` if the database cannot be opened, or ``ProviderError`` if another provider uses the
    ///   data directory or a restoration was interrupted.
    init(
        _ configuration: ProviderConfiguration,
        metrics: PrometheusRegistry,
        time: any TimeSource,
        logger: Logger
    ) async throws {
        (self.configuration, self.metrics, self.logger) = (configuration, metrics, logger)
        self.lock = try LockedDirectory(configuration.dataDirectory)
        // The restored database may be incomplete. If it is missing, opening it would create an empty one.
        guard !FileManager.default.fileExists(atPath: configuration.replacementMarker) else {
            throw ProviderError.restoreInterrupted(configuration.databasePath)
        }
        self.budgets = BudgetRegistry(configuration.budgets, clock: time.instants)
        (self.connections, self.unauthenticated) = Self.connections(configuration, self.budgets, logger)
        self.store = try await Self.store(configuration, self.budgets)
        self.resolver = SystemResolver(self.budgets)
        if self.store.isShared {
            let shared = try await SharedTime(self.store, base: time)
            self.clock = ClockStateMachine(mark: nil, wall: shared.now)
            self.time = shared
            self.nodes = NodeMembership(
                store: self.store,
                node: configuration.node,
                time: shared,
                wakes: [self.wakes[.urgent], self.wakes[.bulk], self.scheduleWake, self.webhookWake],
                logger: logger
            )
        } else {
            let mark = try await self.store.clockMark()
            self.clock = ClockStateMachine(mark: mark, wall: time.now, isConfirmed: configuration.confirmsClock)
            self.time = ProviderTime(time, startingAt: self.clock.start)
            self.nodes = nil
        }
        configuration.warnOfExposure(logger: logger)
    }

    /// Opens the database of PostgreSQL, if the configuration names one, or else that of SQLite.
    private static func store(_ configuration: ProviderConfiguration, _ budgets: BudgetRegistry) async throws
        -> SQLStore
    {
        guard let address = configuration.database else {
            return try SQLStore(
                path: configuration.databasePath,
                masterKey: MasterKey.load(
                    orCreateAt: configuration.masterKeyPath,
                    besideDatabase: configuration.databasePath
                ),
                limits: configuration.limits.queries,
                budgets: budgets
            )
        }
        #if PostgreSQL
        return try await SQLStore(
            postgreSQL: address,
            masterKey: MasterKey.load(orCreateAt: configuration.masterKeyPath),
            limits: configuration.limits.queries,
            isShared: true,
            isPooled: configuration.hasDatabasePooler
        )
        #else
        _ = address
        throw ProviderError.noPostgreSQL
        #endif
    }

    /// Creates the limiter of all connections, and the budget of those on which no valid key was sent yet.
    private static func connections(
        _ configuration: ProviderConfiguration,
        _ budgets: BudgetRegistry,
        _ logger: Logger
    ) -> (held: ConnectionLimiter, unauthenticated: UnauthenticatedConnectionBudget) {
        var limits = configuration.limits.unauthenticated
        let held = ConnectionLimiter(budgets, maximumStrangers: limits.connections, logger: logger)
        // The connection limiter bounds the number of these connections.
        limits.connections = configuration.limits.connections + Self.acceptedBeyond
        return (held, UnauthenticatedConnectionBudget(limits: limits, logger: logger))
    }
}

extension ProviderConfiguration {
    /// The facts by which other nodes and operators recognize this one.
    fileprivate var node: NodeDescription {
        NodeDescription(
            name: self.nodeName ?? ProcessInfo.processInfo.hostName,
            version: MartletVersion.number,
            address: self.hasListener ? self.publicOrigin ?? "\(self.host):\(self.port)" : nil
        )
    }

    /// Logs a warning for each file that other users of the machine can read or change.
    func warnOfExposure(logger: Logger) {
        let database = self.database == nil ? [("database", self.databasePath)] : []
        let files = [("master key", self.masterKeyPath)] + database
        for (name, path) in files {
            guard let mode = FileExposure.mode(of: path) else { continue }
            logger.warning(
                "\(name) is open to other users of this machine",
                metadata: ["file": "\(path)", "mode": "\(mode)", "remedy": "chmod 600 \(path)"]
            )
        }
    }
}

/// The components between the acceptance of a notification and the push service. Most features use them.
struct SendingComponents: Sendable {
    let source: any SenderSource
    let directory: SenderDirectory
    /// The policy that decides which device tokens are deactivated after rejections by the push service.
    let invalidation: TokenInvalidationPolicy
    let faults: ConfigurationFaultTracker
    /// The queue of pushes in memory, from which urgent notifications are sent without reading the store.
    let direct: DirectDispatch
    let registrar: DeviceRegistrar
    let acceptor: NotificationAcceptor

    init(_ core: ProviderCore, _ source: any SenderSource) {
        let (store, time, logger) = (core.store, core.time, core.logger)
        self.source = source
        self.directory = SenderDirectory(
            store: store,
            source: source,
            tokens: ProviderTokenCache(store: store, time: time, logger: logger),
            logger: logger
        )
        self.invalidation = TokenInvalidationPolicy(store: store, limits: core.configuration.breaker, logger: logger)
        self.faults = ConfigurationFaultTracker(
            store: store,
            directory: self.directory,
            source: source,
            wakes: core.wakes,
            webhookWake: core.webhookWake,
            time: time,
            logger: logger
        )
        self.direct = DirectDispatch(store: store, limits: core.configuration.dispatch, time: time)
        self.registrar = DeviceRegistrar(store: store, direct: self.direct)
        core.nodes?.observe { [directory, invalidation, faults, direct] change in
            switch change.kind {
            case .app, .bridge: return true
            case .environment:
                directory.forget(app: change.app)
                invalidation.forget(app: change.app)
                return await faults.reload(app: change.app)
            case .stop:
                core.erasureWake.signal()
                return await direct.stopped(app: change.app, in: store)
            }
        }
        self.acceptor = NotificationAcceptor(
            store: store,
            wakes: core.wakes,
            // Counting the recipients may take a sixth of the deadline of a request.
            budget: core.configuration.limits.request / 6,
            direct: self.direct,
            time: time
        )
    }
}
