import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ProviderModel
package import PushHTTP
package import PushProvider
package import PushSender
import PushStore
package import PushSupport
import ServiceLifecycle

/// A provider server: the REST API, the dispatcher and their background services.
package final class ProviderServer: Service {
    /// The text of the admin key that the first start issues, or `nil` at later starts. The key is valid once
    /// ``port()`` has returned. The only copy is in ``ProviderConfiguration/adminKeyFile``.
    package var firstAdminKey: String? { self.adminKey.text }

    private let adminKey: FirstAdminKey
    private let adminLink: FirstAdminLink
    package let signIns: SignInService
    let core: ProviderCore
    private let services: [any Service]
    let api: RESTAPI
    /// The extension that another module adds, or `nil` if there is none.
    private let addition: (any ProviderExtension)?
    /// The pages that are served in addition to the API, or `nil` if there are none.
    private let pages: (any ProviderPages)?
    private let certificate: TLSCertificate?
    /// The port of the listener, which is resolved once requests are served.
    private let bound = OneShotValue<Int>()
    /// The port of the listener, which is resolved as soon as the listener is bound. Unlike for ``bound``, the first
    /// admin key is not valid yet at that time.
    private let listening = OneShotValue<Int>()

    /// Creates a provider server and opens its database.
    /// - Parameters:
    ///   - senders: The source of the senders that connect to the push services.
    ///   - policy: The policy that decides when a failed push is sent again.
    ///   - metrics: The metrics that `/metrics` shows besides the gauges of the store.
    ///   - addition: The closure that creates the extension of another module, or returns `nil` for none, which is the
    ///     default.
    ///   - pages: The closure that creates the pages beside the API, or returns `nil` for none, which is the default.
    ///   - showAdminKey: The closure that is called once with the first admin key, after the listener is bound. With an
    ///     admin key file, the key is already valid. Without one, it becomes valid immediately afterwards.
    ///   - showAdminLink: The closure that is called with the link that creates the first person, at every start at
    ///     which there is no person.
    /// - Throws: ``StoreError`` if the database cannot be opened, or ``ProviderError`` if the data directory is in use,
    ///   a restoration was interrupted, or the admin key file cannot be written.
    package init(
        configuration: ProviderConfiguration,
        senders: any SenderSource,
        policy: RetryPolicy = RetryPolicy(),
        metrics: PrometheusRegistry = PrometheusRegistry(ProviderServer.metricDescriptions),
        addition: (ProviderComponents) throws -> (any ProviderExtension)? = { _ in nil },
        pages: (PageComponents) throws -> (any ProviderPages)? = { _ in nil },
        showAdminKey: @escaping @Sendable (String) -> Void = { _ in },
        showAdminLink: @escaping @Sendable (String) -> Void = { _ in },
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) async throws {
        self.certificate = try configuration.tls.map { try TLSCertificate($0, logger: logger) }
        let core = try await ProviderCore(configuration, metrics: metrics, time: time, logger: logger)
        self.core = core
        let callers = try await CallerFeature(core)
        self.adminKey = try await FirstAdminKey(callers.keys, file: configuration.adminKeyFile, show: showAdminKey)
        self.adminLink = FirstAdminLink(callers.people, configuration, logger: logger, show: showAdminLink)
        self.signIns = callers.signIns
        let sending = SendingComponents(core, senders)
        let addition = try addition(ProviderComponents(core, sending, callers.runner))
        self.addition = addition

        let publishing = PublishingFeature(core, sending)
        let delivery = DeliveryFeature(core, sending, policy, downloads: publishing.downloads)
        let credentials = CredentialFeature(core, sending)
        let webhooks = WebhookFeature(core)
        let features: [any ProviderFeature] = [
            callers, credentials, delivery, ScheduleFeature(core, sending.acceptor), DeviceFeature(core, sending),
            webhooks, publishing,
            RetentionFeature(
                core,
                sending,
                webhooks: webhooks.delivery,
                files: publishing.cleaner,
                noteErasure: { addition?.erasureBegan() }
            ),
            OperationFeature(
                core,
                sending,
                dispatch: delivery.metrics,
                expiry: credentials.expiry,
                publishing: publishing
            ),
        ]
        self.services = features.flatMap(\.services) + (addition?.services ?? [])
        self.api = RESTAPI(
            controllers: features.flatMap(\.controllers) + (addition?.controllers ?? []),
            runner: callers.runner,
            compatibility: CompatibilityRoutes(
                configuration: configuration.compatibility,
                store: core.store,
                registrar: sending.registrar,
                acceptor: sending.acceptor,
                notifier: publishing.notifier,
                runner: callers.runner,
                time: core.time
            ),
            logger: logger
        )
        self.pages = try pages(PageComponents(core, callers, api: self.api.responder))
    }

    /// Waits until requests are served, and returns the port of the API, or 0 for a provider without a listener.
    /// - Throws: The error with which ``run()`` ended before requests were served.
    package func port() async throws -> Int { try await self.bound.value }
}

extension ProviderServer {
    /// Runs the server until shutdown. At shutdown, open requests and the pushes in flight may still complete.
    package func run() async throws {
        // The lock is released here, because something may still refer to this object afterwards.
        defer { self.core.lock.release() }
        do {
            try await self.runAsNode()
            try await self.core.store.close()
            self.core.logger.info("provider ended")
            self.bound.resolve(.failure(ProviderError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    /// Runs as one of the nodes that share the database, if it is shared.
    private func runAsNode() async throws {
        guard let nodes = self.core.nodes else { return try await self.runToShutdown() }
        try await nodes.join()
        // The heartbeats go on while the pushes in flight complete.
        async let heartbeats: Void = nodes.run()
        let result: Result<Void, any Error>
        do { result = .success(try await self.runToShutdown()) } catch { result = .failure(error) }
        nodes.end()
        await heartbeats
        await nodes.leave()
        try result.get()
    }

    private func runToShutdown() async throws {
        try await withGracefulShutdownHandler {
            try await self.runServices()
        } onGracefulShutdown: {
            // Long queries would delay the end of open requests.
            self.core.store.endQueries()
            self.core.outcomes.end()
        }
        try await self.core.store.writeStatistics()
    }

    private func openWithoutListener() {
        self.core.logger.info("provider is open", metadata: ["api": "none"])
        self.bound.resolve(.success(0))
    }

    /// Issues the first admin key and starts to serve the API, once the listener is bound.
    private func open() async throws {
        // If the listener could not be bound, `run()` has thrown the error.
        guard let port = try? await self.listening.value else { return }
        do {
            try await self.adminKey.issue()
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
        if self.pages != nil { await self.adminLink.issue(port: port) }
        let scheme = self.certificate == nil ? "http" : "https"
        self.core.logger.info(
            "provider is open",
            metadata: ["api": "\(scheme)://\(self.core.configuration.host):\(port)/v1"]
        )
        if self.certificate == nil, !self.core.configuration.isLoopback {
            let message: Logger.Message = "API is open to other hosts without TLS: keys and devices' data can be read"
            let remedy = "set serve.tls.certificate and serve.tls.key, or put a proxy with TLS in front"
            self.core.logger.warning(
                message,
                metadata: ["host": "\(self.core.configuration.host)", "remedy": "\(remedy)"]
            )
        }
        self.bound.resolve(.success(port))
    }

    private func runServices() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in self.services { group.addTask { try await service.run() } }
            if let certificate { group.addTask { await certificate.run() } }
            group.addTask { await cancelWhenGracefulShutdown { await self.warnOfOverruledBridges() } }
            if self.core.configuration.hasListener {
                group.addTask { try await self.serve() }
                group.addTask { try await self.open() }
            } else {
                self.openWithoutListener()
            }
            // The first error cancels all services.
            for try await _ in group {}
        }
    }
}

extension ProviderServer {
    /// The maximum number of bridges of an app that a log line names. Further ones are omitted.
    private static let namedBridges = 5

    private func warnOfOverruledBridges() async {
        let log = RateLimitedLog(self.core.logger, self.core.budgets[.logLines])
        do {
            let apps = try await self.core.store.apps().map(\.id)
            let overruled = try await self.core.store.overruledBridges(apps: apps, limit: .max)
            for (app, bridges) in Dictionary(grouping: overruled, by: \.bundleID) {
                let names = bridges.prefix(Self.namedBridges).map { "\($0.kind.rawValue) \($0.name)" }
                log.log(
                    .warning,
                    "a bridge loses pushes to another app: its name begins with that app's bundle id",
                    ["app": "\(app)", "bridges": "\(names.joined(separator: ", "))", "count": "\(bridges.count)"],
                    app: app
                )
            }
        } catch {
            guard !Task.isCancelled else { return }
            self.core.logger.error("bridges that lose pushes cannot be looked for", metadata: ["error": "\(error)"])
        }
    }
}

extension ProviderServer {
    private func serve() async throws {
        // This has no effect if the listener is bound.
        defer { self.listening.resolve(.failure(ProviderError.ended)) }
        let (host, port) = (self.core.configuration.host, self.core.configuration.port)
        let limits = self.core.configuration.limits
        let (unauthenticated, held) = (self.core.unauthenticated, self.core.connections)
        let application = Application(
            router: self.api.router(with: self.pages, self.addition),
            server: .bounded(
                deadline: TimeAmount(limits.request),
                idle: TimeAmount(limits.idle),
                decoder: Self.headLimits,
                tls: self.certificate,
                unauthenticated: unauthenticated,
                held: held,
                listener: "api",
                // `OperationRunner` assigns the connection to a caller once it knows the API key.
                isAuthenticated: { _, _ in false }
            ),
            configuration: .init(
                address: .hostname(host, port: port),
                backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    limits.connections + ProviderCore.acceptedBeyond
                )
            ),
            onServerRunning: { channel in
                // If this fails, the listener has been closed in the meantime, and the failure does not matter.
                try? await held.rates.limit(channel)
                self.listening.resolve(.success(channel.localAddress?.port ?? port))
                // Requests wait until the file with the first admin key is written.
                _ = try? await self.bound.value
            },
            logger: self.core.logger.forHTTPServer
        )
        do {
            try await application.run()
        } catch let error where error is IOError || error is SocketAddressError.UnknownHost {
            throw ProviderError.cannotListen(address: "\(host):\(port)", why: ErrorDescription.of(error))
        }
    }

    /// The maximum number of connections that wait in the system's queue until they are accepted. The system may reduce
    /// it, as macOS does to 128 by default. A client that finds the queue full tries to connect again after a second.
    /// Hummingbird's default of 256 is too small for a burst of a thousand clients.
    private static let backlog = 1024

    /// The limits of a request's header fields, which suffice for a path, a cursor and an API key.
    private static let headLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 * 1024,
        maxHeaderListSize: 32 * 1024,
        maxHeaderFieldCount: 100
    )
}

extension ProviderServer {
    /// The help texts and buckets of the metrics that a provider reports, without those of its bridges.
    package static let metricDescriptions: [MetricDescription] = [
        .init("martlet_sender_outcomes_total", "Pushes by outcome, by push service and environment."),
        .init(
            "martlet_sender_response_seconds",
            "Time from a request to the push service to its response.",
            buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        ),
        .init("martlet_sender_on_fallback_port", "1 while the push service is reached on its fallback port."),
        .init("martlet_sender_credential_expires", "Time at which a certificate in use ends, by its common name."),
        .init("martlet_configuration_faults_total", "Pushes that met a fault of the configuration, by its cause."),
        .init("martlet_deliveries_total", "Final states of recipients, by app, environment, state and reason."),
        .init("martlet_delivery_retries_total", "Tries that are followed by another, by app, environment and reason."),
        .init(
            "martlet_queue_start_seconds",
            "Time from when a notification could be sent to its first page, by lane.",
            buckets: ProviderServer.queueBuckets
        ),
        .init(
            "martlet_queue_retry_seconds",
            "Time from when retries were due to their page, by lane.",
            buckets: ProviderServer.queueBuckets
        ),
        .init("martlet_pages_fenced_total", "Pages that were sent under a lease that was lost."),
        .init("martlet_receipts_total", "Receipts, by app, event, source and result."),
        .init("martlet_downloads_total", "Downloads that ended, or were refused for their number, by result."),
        .init("martlet_download_bytes_total", "Bytes of downloads that connections have accepted."),
        .init("martlet_token_changes_total", "Changes of tokens, by app, environment, action and reason."),
        .init("martlet_feedback_runs_total", "Readings of feedback services, by app, environment and outcome."),
        .init("martlet_feedback_tokens_total", "Tokens of feedback lists, by app, environment and result."),
        .init("martlet_webhook_posts_total", "Posts to webhooks, by outcome."),
        .init("martlet_webhook_disabled_total", "Webhooks that were disabled after failures."),
        .init("martlet_api_requests_total", "Requests to the API, by operation and status."),
        .init("martlet_api_request_seconds", "Duration of requests to the API, by operation."),
        .init("martlet_api_throttled_total", "Requests that exceeded a limit or were given up, by code."),
        .init("martlet_store_write_failures_total", "Writes that the store could not make."),
        .init("martlet_store_wal_folds_total", "Checkpoints of the write-ahead log."),
        .init("martlet_store_wal_folds_unfinished_total", "Checkpoints that a reader prevented."),
    ]

    /// The histogram buckets of waiting times, in seconds. They are long, because a push that is due may wait for
    /// others, or until the push service responds again.
    private static let queueBuckets: [Double] = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600]
}
