import Foundation
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
package import PushHTTP
package import PushProvider
package import PushSender
import PushStore
package import PushSupport
import ServiceLifecycle

/// A provider: the REST API under `/v1` and the dispatcher behind it.
package final class ProviderServer: Service {
    /// The text of the admin key that the first start makes; `nil` later. It counts once the API is bound, see
    /// ``port()``, and is kept nowhere but in ``ProviderConfiguration/adminKeyFile``.
    package var firstAdminKey: String? { self.adminKey.text }

    private let adminKey: FirstAdminKey
    private let configuration: ProviderConfiguration
    /// One process works with a database: a second one would send everything twice.
    private let lock: DirectoryLock
    let store: SQLiteStore
    private let dispatcher: Dispatcher
    private let schedules: ScheduleRunner
    private let retention: RetentionService
    private let clock: ClockMonitor
    private let webhooks: WebhookDelivery
    private let api: API
    private let unproven: UnauthenticatedConnections
    private let watch: WALMonitor
    private let bound = OneShotValue<Int>()
    /// The same before the first admin key counts.
    private let listening = OneShotValue<Int>()
    private let logger: Logger

    /// Opens the database.
    /// - Parameters:
    ///   - metrics: what `/metrics` shows besides the store's figures.
    ///   - showAdminKey: called with the first admin key, once, when the API is bound: before the key counts, or when it is
    ///     in its file.
    /// - Throws: ``StoreError``, ``ProviderError``.
    package init(
        configuration: ProviderConfiguration,
        senders: any SenderSource,
        policy: RetryPolicy = RetryPolicy(),
        metrics: PrometheusRegistry = PrometheusRegistry(),
        showAdminKey: @escaping @Sendable (String) -> Void = { _ in },
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.lock = try Self.lock(configuration.dataDirectory)
        // What lies there is half of something, or nothing: an empty database would be made in its place.
        guard !FileManager.default.fileExists(atPath: configuration.replacementMarker) else {
            throw ProviderError.restoreInterrupted(configuration.databasePath)
        }
        self.store = try SQLiteStore(
            path: configuration.databasePath,
            masterKey: MasterKey.load(
                orCreateAt: configuration.masterKeyPath,
                besideDatabase: configuration.databasePath
            ),
            limits: configuration.limits.questions
        )
        let clock = ClockStateMachine(
            mark: try await self.store.clockMark(),
            wall: time.now,
            isConfirmed: configuration.confirmsClock
        )
        let time = ProviderTime(time, startingAt: clock.start)
        let keys = APIKeys(store: self.store, time: time)
        let wakes = LaneWakeSignals()
        let directory = SenderDirectory(
            store: self.store,
            source: senders,
            tokens: ProviderTokenCache(store: self.store, time: time, logger: logger),
            logger: logger
        )
        let hygiene = TokenInvalidationPolicy(store: self.store, limits: configuration.breaker, logger: logger)
        let intake = NotificationAcceptor(store: self.store, wakes: wakes, time: time)
        self.adminKey = try await FirstAdminKey(keys, file: configuration.adminKeyFile, show: showAdminKey)
        self.dispatcher = Dispatcher(
            store: self.store,
            directory: directory,
            invalidation: hygiene,
            wakes: wakes,
            limits: configuration.dispatch,
            policy: policy,
            time: time,
            logger: logger
        )
        let (scheduleWake, webhookWake) = (WakeSignal(), WakeSignal())
        // Those that have proven nothing end for new ones before there is no room to accept any.
        var unproven = configuration.limits.unproven
        unproven.connections = min(unproven.connections, max(1, configuration.limits.connections / 2))
        self.unproven = UnauthenticatedConnections(limits: unproven, logger: logger)
        self.watch = WALMonitor(store: self.store, metrics: metrics, logger: logger)
        let trail = AuditTrail(store: self.store, time: time, logger: logger)
        let requests = RequestMetrics(factory: metrics)
        let rates = KeyRateLimiter(rate: configuration.limits.keyRate)
        self.schedules = ScheduleRunner(
            store: self.store,
            acceptor: intake,
            wake: scheduleWake,
            settings: configuration.schedules,
            time: time,
            logger: logger
        )
        self.retention = RetentionService(
            store: self.store,
            settings: configuration.retention,
            time: time,
            logger: logger
        )
        self.clock = ClockMonitor(
            store: self.store,
            stateMachine: clock,
            time: time,
            wakes: [wakes[.urgent], wakes[.bulk], scheduleWake, webhookWake],
            logger: logger
        )
        let store = self.store
        self.webhooks = WebhookDelivery(
            store: store,
            bundleID: { try await store.app(id: $0)?.bundleID },
            wake: webhookWake,
            addresses: configuration.webhookAddresses,
            time: time,
            logger: logger
        )
        self.api = API(
            controllers: [
                ServerController(
                    probe: ReadyProbe(store: store),
                    metrics: ProviderMetrics(registry: metrics, store: store, unproven: self.unproven, time: time)
                ), AppsController(store: store, time: time),
                CredentialsController(store: store, directory: directory, hygiene: hygiene, time: time),
                DevicesController(store: store, time: time),
                DeviceTransferController(
                    store: store,
                    time: time,
                    logger: logger,
                    maximumFile: configuration.limits.importFile
                ), HistoryController(store: store),
                AudiencesController(store: store, time: time),
                SendingController(store: store, intake: intake, time: time),
                NotificationsController(store: store, wakes: wakes, time: time),
                SchedulesController(store: store, wake: scheduleWake, time: time),
                TokenStateController(store: store, hygiene: hygiene, time: time),
                WebhooksController(
                    store: store,
                    addresses: configuration.webhookAddresses,
                    wake: webhookWake,
                    interrupt: { [webhooks = self.webhooks] in await webhooks.interrupt($0) },
                    time: time
                ), KeysController(store: store, keys: keys, trail: trail),
            ],
            runner: OperationRunner(
                keys: keys,
                rates: rates,
                questionBudget: configuration.limits.question,
                audit: trail,
                metrics: requests,
                logger: logger
            ),
            compatibility: CompatibilityRoutes(
                configuration: configuration.compatibility,
                store: store,
                keys: keys,
                intake: intake,
                rates: rates,
                metrics: requests,
                time: time,
                logger: logger
            ),
            logger: logger
        )
    }

    /// The port that the API is bound to. Waits until it is.
    /// - Throws: what ended ``run()`` before that.
    package func port() async throws -> Int {
        try await self.bound.value
    }

    /// Serves until shutdown: open requests are answered, the dispatcher finishes the page in flight.
    package func run() async throws {
        do {
            try await withGracefulShutdownHandler {
                try await self.runServices()
            } onGracefulShutdown: {
                // Open requests are answered, and these would take their time for it.
                self.store.endQueries()
            }
            try self.store.close()
            self.logger.info("provider has ended")
            self.bound.resolve(.failure(ProviderError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    /// Shows the first admin key and the port, once the port is bound.
    private func open() async throws {
        // The listener has thrown the reason if it could not be bound.
        guard let port = try? await self.listening.value else { return }
        do {
            try await self.adminKey.issue()
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
        self.logger.info("provider is open", metadata: ["api": "http://\(self.configuration.host):\(port)/v1"])
        self.bound.resolve(.success(port))
    }

    private func runServices() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.dispatcher.run() }
            group.addTask { try await self.schedules.run() }
            group.addTask { try await self.retention.run() }
            group.addTask { try await self.clock.run() }
            group.addTask { try await self.webhooks.run() }
            group.addTask { await self.watch.run() }
            group.addTask { try await self.serve() }
            group.addTask { try await self.open() }
            // The failure of one ends all.
            for try await _ in group {}
        }
    }

    private func serve() async throws {
        // Without effect once it is bound.
        defer { self.listening.resolve(.failure(ProviderError.ended)) }
        let (host, port) = (self.configuration.host, self.configuration.port)
        let limits = self.configuration.limits
        let unproven = self.unproven
        var quiet = self.logger
        quiet.logLevel = max(self.logger.logLevel, .warning)
        let application = Application(
            router: self.api.router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        RequestBodyHandler(deadline: TimeAmount(limits.request)),
                        RequestDeadlineHandler(deadline: TimeAmount(limits.request)),
                        // The operation proves the connection, once it knows the key.
                        UnauthenticatedRequestHandler(unproven, listener: "api") { _, _ in false },
                    ],
                    idleTimeout: TimeAmount(limits.idle),
                    httpDecoderConfiguration: Self.headLimits
                )
            ),
            configuration: .init(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections)
            ),
            onServerRunning: { channel in
                self.listening.resolve(.success(channel.localAddress?.port ?? port))
                // Requests are answered once the first admin key is where its owner finds it.
                _ = try? await self.bound.value
            },
            logger: quiet
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw ProviderError.cannotListen(address: "\(host):\(port)", why: ErrorDescription.of(error))
        }
    }

    /// Room for a path, a cursor and a key.
    private static let headLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 * 1024,
        maxHeaderListSize: 32 * 1024,
        maxHeaderFieldCount: 100
    )

    /// Makes the folder if there is none, and takes it.
    private static func lock(_ folder: String) throws -> DirectoryLock {
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            return try DirectoryLock(folder: folder)
        } catch DirectoryLock.Failure.taken {
            throw ProviderError.dataDirectoryInUse(folder)
        } catch {
            throw StoreError.cannotOpen(path: folder, why: ErrorDescription.of(error))
        }
    }
}

/// Why a provider server cannot run.
package enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(address: String, why: String)
    case dataDirectoryInUse(String)
    case cannotWriteAdminKey(path: String, why: String)
    /// A backup has been put in the place of this database by half.
    case restoreInterrupted(String)
    /// It ended before it was open.
    case ended

    package var description: String {
        switch self {
        case .cannotListen(let address, let why): "the provider cannot listen on \(address): \(why)"
        case .dataDirectoryInUse(let path): "another provider is using the data directory \(path)"
        case .cannotWriteAdminKey(let path, let why): "the first admin key cannot be written to \(path): \(why)"
        case .restoreInterrupted(let path):
            "a restore of \(path) was interrupted: run martlet restore again, with --replace; what was there lies beside it"
        case .ended: "the provider ended before it was open"
        }
    }
}
