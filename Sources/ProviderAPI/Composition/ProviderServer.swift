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
    let core: ProviderCore
    /// The services besides the listener.
    let services: [any Service]
    let api: RESTAPI
    /// The part that another module adds; `nil` for none.
    let addition: (any ProviderExtension)?
    /// The pages beside the API; `nil` for none.
    let pages: (any ProviderPages)?
    /// The certificate of the API; `nil` without TLS.
    let certificate: TLSCertificate?
    /// The port, once requests are served.
    let bound = OneShotValue<Int>()
    /// The port, once the listener is bound and before the first admin key is valid.
    let listening = OneShotValue<Int>()

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
        addition: (ProviderComponents) throws -> (any ProviderExtension)? = { _ in nil },
        pages: (ProviderInterface) throws -> (any ProviderPages)? = { _ in nil },
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
                acceptor: sending.acceptor,
                notifier: publishing.notifier,
                runner: callers.runner,
                time: core.time
            ),
            logger: logger
        )
        self.pages = try pages(ProviderInterface(core, callers, api: self.api.responder))
    }

    /// Returns the port of the API, after waiting until requests are served.
    ///
    /// - Throws: The error that ended ``run()`` before that.
    package func port() async throws -> Int {
        try await self.bound.value
    }
}
